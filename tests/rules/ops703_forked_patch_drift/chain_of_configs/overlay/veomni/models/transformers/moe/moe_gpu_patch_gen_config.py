from veomni.models.transformers.dense.dense_gpu_patch_gen_config import model_forward
from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.moe.modeling_moe", target_file="patched_modeling_moe_gpu.py"
)
config.override_method("MoeModel.forward", replacement=model_forward, name_map={"Dense": "Moe", "split": "split_moe"})


@config.add_helper
def split_moe(hidden_states):
    return hidden_states
