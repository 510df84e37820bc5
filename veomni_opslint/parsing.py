"""Parsing Python in silence: warnings about odd but legal code are for whoever runs it, not for whoever checks it."""

from __future__ import annotations

import ast
import warnings


def parse(text: str) -> ast.Module:
    """``ast.parse`` that warns of nothing.

    Raises:
        SyntaxError: as ``ast.parse`` does; so do ValueError, RecursionError and MemoryError on odd or hostile text.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
