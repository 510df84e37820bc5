from veomni.models.transformers.llama.llama_gpu_patch_gen_config import norm_forward_patched
from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.llama.modeling_llama",
    target_file="patched_modeling_llama_npu.py",
)
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    """
)
config.override_method(
    "LlamaRMSNorm.forward",
    replacement=norm_forward_patched,
    description="as on a GPU",
)
