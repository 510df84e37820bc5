from functools import lru_cache

import torch
from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.llama_vl.modeling_llama_vl",
    target_file="patched_modeling_llama_vl_gpu.py",
)
config.add_import("veomni.utils.device", names=["get_device_type"])
config.drop_import_names("Cache")
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    """
)


@config.add_helper
@lru_cache(maxsize=8)
def position_ids(length):
    return torch.arange(length, device=get_device_type())


@config.add_helper
class LlamaVLFake:
    pass


@config.override_method("LlamaVLRMSNorm.forward", description="slot")
def rms_norm_forward_patched(self, hidden_states):
    return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
