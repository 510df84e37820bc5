from veomni.models.transformers.moe.moe_gpu_patch_gen_config import config as gpu_config
from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.moe.modeling_moe", target_file="patched_modeling_moe_npu.py"
)
config.patches.extend(gpu_config.patches)


@config.add_helper
def split_moe(hidden_states, parts, *, group):
    return hidden_states
