from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.llama.modeling_llama",
    target_file="patched_modeling_llama_gpu.py",
)
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    """
)


@config.override_method("LlamaRMSNorm.forward", description="the kernel")
def norm_forward_patched(self, x):
    """Norm of a Llama."""
    # The kernel, where there is one.
    if self.training:
        return veomni_rms_norm(x, self.weight)

    if x is None:
        return LlamaRMSNorm.forward(self, self.weight)
    return x * self.weight
