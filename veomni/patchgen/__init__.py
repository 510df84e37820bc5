"""Generation of patched modeling files: a model's source with the changes that its patch config describes."""

from .patch_spec import PatchConfig

__all__ = ["PatchConfig"]
