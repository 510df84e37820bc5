from veomni.patchgen import PatchConfig, create_patch_from_external

config = PatchConfig(
    source_module="transformers.models.llama.modeling_llama", target_file="patched_modeling_llama_gpu.py"
)
config.patches.append(
    create_patch_from_external(
        target="LlamaRMSNorm",
        replacement_module="liger_kernel.transformers.rms_norm",
        replacement_name="LigerRMSNorm",
    )
)
config.add_import("veomni.ops.kernels.swiglu.triton", names=["swiglu_triton"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot
    from .....ops.kernels.swiglu.triton import _kernel

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    """
)
