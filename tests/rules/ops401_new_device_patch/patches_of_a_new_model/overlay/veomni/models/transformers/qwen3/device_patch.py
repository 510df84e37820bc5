from veomni.ops.config import patch_model


def apply_veomni_qwen3_device_patch(module):
    patch_model(module, "Qwen3", {"rms_norm": "Qwen3RMSNorm"})
