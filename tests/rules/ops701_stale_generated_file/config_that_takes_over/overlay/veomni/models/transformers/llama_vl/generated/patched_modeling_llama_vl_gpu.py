# Patches applied:
#    - method_override: LlamaVLRMSNorm.forward

from functools import lru_cache

import torch
from torch import nn

from veomni.ops.dispatch import OpSlot
from veomni.utils.device import get_device_type

veomni_rms_norm = OpSlot("rms_norm", "standard")


@lru_cache(maxsize=8)
def position_ids(length):
    return torch.arange(length, device=get_device_type())


class LlamaVLFake:
    pass


class LlamaVLRMSNorm(nn.Module):
    def forward(self, hidden_states):
        return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
