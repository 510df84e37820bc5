# Patches applied:
#    - method_override: LlamaVLRMSNorm.forward

from functools import lru_cache

import torch
from torch import nn
from transformers.cache_utils import Cache

from veomni.ops.dispatch import OpSlot
from veomni.utils.device import get_device_name as get_device_type

veomni_rms_norm = OpSlot("rms_norm", "standard")
veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")


@lru_cache(maxsize=16)
def position_ids(length):
    return torch.arange(length, device=get_device_type())


class LlamaVLRMSNorm(nn.Module):
    def forward(self, hidden_states, cache: Cache = None):
        return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)


class LlamaVLMLP(nn.Module):
    def reset(self, hidden_states):
        return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)


class LlamaVLAttention(nn.Module):
    pass
