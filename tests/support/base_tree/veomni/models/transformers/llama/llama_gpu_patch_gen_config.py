from veomni.patchgen import PatchConfig

config = PatchConfig(source_module="transformers.models.llama.modeling_llama")

config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)
