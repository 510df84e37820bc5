from veomni.models.transformers.llama.llama_gpu_patch_gen_config import config as llama_config
from veomni.patchgen import PatchConfig

config = PatchConfig(source_module="transformers.models.llama_vl.modeling_llama_vl")
config.post_import_blocks.extend(llama_config.post_import_blocks)

config.add_post_import_block(
    """
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "gated")
    """
)
