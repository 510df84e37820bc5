from veomni.models.transformers.qwen3.device_patch import apply_veomni_qwen3_device_patch
from veomni.ops.config import registry


def register_qwen3(module):
    apply_veomni_qwen3_device_patch(module)
    return registry.apply_per_model_patches(module, "Qwen3", {"swiglu_mlp": "Qwen3MLP"})
