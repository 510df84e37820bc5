from veomni.patchgen import PatchConfig

config = PatchConfig(source_module="transformers.models.deepseek_v4.modeling_deepseek_v4")

config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot
    from veomni.ops.kernels.mhc.names import OP, Variant

    veomni_mhc_pre = OpSlot("mhc", "pre")
    veomni_mhc_head = OpSlot(OP, Variant.HEAD)
    """
)
