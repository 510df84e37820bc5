from veomni.patchgen import PatchConfig

from .llama_gpu_patch_gen_config import llama_rms_norm_forward

config = PatchConfig(
    source_module="transformers.models.llama.modeling_llama", target_file="patched_modeling_llama_npu.py"
)
config.override_method("LlamaRMSNorm.forward")(llama_rms_norm_forward)
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)


@config.override_method("LlamaMLP.forward")
def llama_mlp_forward(self, x):
    if veomni_rms_norm.use_non_eager_impl:
        return veomni_swiglu_mlp(self, x)
    return x
