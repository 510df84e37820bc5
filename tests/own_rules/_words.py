"""What the rules of this folder share; a module that begins with an underscore is no rule."""

from __future__ import annotations


def is_said(text: str | None) -> bool:
    """Whether a description says anything."""
    return bool(text and text.strip())
