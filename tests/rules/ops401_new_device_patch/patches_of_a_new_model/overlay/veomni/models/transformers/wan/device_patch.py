from veomni.ops.config import patch_model


def apply_veomni_wan_device_patch(module):
    patch_model(module, "Wan", {"rms_norm": "WanRMSNorm"})
