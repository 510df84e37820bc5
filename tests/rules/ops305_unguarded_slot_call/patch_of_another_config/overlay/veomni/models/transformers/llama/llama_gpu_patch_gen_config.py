from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.llama.modeling_llama", target_file="patched_modeling_llama_gpu.py"
)
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)


@config.override_method("LlamaRMSNorm.forward")
def llama_rms_norm_forward(self, x):
    if veomni_rms_norm.use_non_eager_impl:
        return veomni_rms_norm(x, self.weight)
    return x * self.weight
