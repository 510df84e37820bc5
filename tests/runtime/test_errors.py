"""Which package an exception of the program says is missing."""

from __future__ import annotations

import pytest

from veomni_opslint.runtime.child.errors import missing_package

OPTIONAL = ["nobody_has_quack", "nobody_has_tiles", "json"]
MESSAGES = {
    "kernel 'nobody_has_quack' cannot be used: the tile is too wide": None,
    "kernel 'nobody_has_quack' cannot be used: nobody-has-tiles is not installed": "nobody_has_tiles",
    "kernel 'x' cannot be used: nobody_has_quack is not installed": "nobody_has_quack",
    "nobody_has_quack needs it, but nobody_has_tiles is missing": "nobody_has_tiles",
    "triton is too old; nobody_has_tiles would do": "nobody_has_tiles",
    "json is not installed": None,
}


@pytest.mark.parametrize("message", MESSAGES)
def test_missing_package(message: str) -> None:
    """The package that is said to be missing, not the kernel that bears the name of one, nor one that is there."""
    assert missing_package(RuntimeError(message), "tiny", OPTIONAL, "nobody_has_quack") == MESSAGES[message]
