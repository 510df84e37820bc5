from .registry import apply_per_model_patches as patch_model

__all__ = ["patch_model"]
