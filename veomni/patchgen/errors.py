"""The one error of patch generation."""

from __future__ import annotations


class PatchgenError(ValueError):
    """A patch config cannot be applied; the message says why."""


def syntax_message(error: SyntaxError) -> str:
    """What is wrong with a piece of code, and with which line of it."""
    line = (error.text or "").strip()
    return f"{error.msg} in `{line}`" if line else error.msg
