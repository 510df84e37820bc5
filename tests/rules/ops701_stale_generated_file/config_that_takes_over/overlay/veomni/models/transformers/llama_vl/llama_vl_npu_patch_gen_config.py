from veomni.models.transformers.llama_vl.llama_vl_gpu_patch_gen_config import config as gpu_config
from veomni.models.transformers.llama_vl.llama_vl_gpu_patch_gen_config import rms_norm_forward_patched
from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="transformers.models.llama_vl.modeling_llama_vl",
    target_file="patched_modeling_llama_vl_npu.py",
)
config.additional_imports.extend(gpu_config.additional_imports)
config.post_import_blocks.extend(gpu_config.post_import_blocks)
config.helpers.extend(one for one in gpu_config.helpers if one.__name__ != "LlamaVLFake")
config.drop_imported_names.update(gpu_config.drop_imported_names)
config.override_method("LlamaVLRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot")
for name in ("LlamaVLMLP", "LlamaVLAttention"):
    config.override_method(f"{name}.reset", replacement=rms_norm_forward_patched)
