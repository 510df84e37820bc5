from veomni.models.transformers.llama_vl.llama_vl_gpu_patch_gen_config import config as gpu_config
from veomni.patchgen import PatchConfig

config = PatchConfig(source_module="transformers.models.llama_vl.modeling_llama_vl")
config.post_import_blocks.extend(gpu_config.post_import_blocks)
