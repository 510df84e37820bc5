"""Which files are tests: they register, bind and rebind what they like."""

from __future__ import annotations


def is_test(path: str) -> bool:
    """Whether a file is one of the tests, in a folder of them or beside the code."""
    *folders, name = path.split("/")
    stem = name.removesuffix(".py")
    return "tests" in folders or stem.startswith("test_") or stem.endswith("_test") or stem == "conftest"
