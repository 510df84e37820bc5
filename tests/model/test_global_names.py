"""Tests of the global names that code uses."""

from __future__ import annotations

import pytest

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract import extract
from veomni_opslint.model.global_names import GlobalNames, global_names, global_names_of, uses_global
from veomni_opslint.source import Source


def test_scopes() -> None:
    """Parameters, locals, closures and comprehension variables are none; names after a class body's are."""
    code = (
        "def f(a, b=default):\n"
        "    c = a\n"
        "    def inner():\n"
        "        return c + other\n"
        "    return [x for x in b if x in table]\n"
        "class K(Base):\n"
        "    size = width\n"
        "    def area(self):\n"
        "        return size * __class__.size\n"
    )
    used = {"default", "other", "table", "Base", "width", "size"}
    assert global_names_of(code) == GlobalNames(frozenset(used), frozenset({"f", "K"}))


def test_assigned_by_functions() -> None:
    """A ``global`` statement makes a function's assignment one of the module."""
    code = "def f():\n    global count\n    count = 1\n"
    assert global_names_of(code).assigned == frozenset({"f", "count"})


def test_code_that_cannot_be_compiled() -> None:
    """Nothing is said about it."""
    assert global_names_of("def f(:") == GlobalNames(frozenset(), frozenset())


METHODS = """\
class K(Base):
    size = width

    @wraps(size, other)
    def area(self, scale=size, unit: Unit = metre):
        return size * scale + super().area() + self.depth

    depth = property(area)
{private}
def f():
    return metre
"""


@pytest.mark.parametrize("private", ["", "    def _(self):\n        return __hidden\n"])
def test_methods(private: str) -> None:
    """What a class binds is no global name in its decorators and defaults, but it is in bodies."""
    facts = extract(Source("veomni/a.py", METHODS.format(private=private)), Dialect())
    hidden = {"_K__hidden"} if private else set()
    used = {"Base", "width", "wraps", "other", "Unit", "metre", "size", "super", "property", *hidden}
    assert global_names(facts) == GlobalNames(frozenset(used), frozenset({"K", "f"}))


@pytest.mark.parametrize(("name", "expected"), [("metre", True), ("width", True), ("depth", False), ("absent", False)])
def test_use_of_one_name(name: str, expected: bool) -> None:
    """A name that is only an attribute, or only in a comment, is not used."""
    facts = extract(Source("veomni/a.py", METHODS.format(private="    # absent")), Dialect())
    assert uses_global(facts, name) is expected


def test_module_with_postponed_annotations() -> None:
    """Annotations that are never evaluated use nothing; the pieces of a module are put together."""
    text = "from __future__ import annotations\nimport torch\n@wraps\ndef f(x: Tensor):\n    return torch.x\ny = f\n"
    facts = extract(Source("veomni/a.py", text), Dialect())
    assert global_names(facts).used == frozenset({"wraps", "torch", "f"})
