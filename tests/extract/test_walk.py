"""The walk over a file: scopes, imports and bindings, shallow and deep."""

from __future__ import annotations
import __future__

import ast
import random
from collections import Counter
from collections.abc import Iterator
from types import CodeType

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.facts import FILES, facts_of, plain, read
from support.module_programs import ModuleProgram

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def compiled_scopes(code: CodeType) -> Iterator[tuple[str, str]]:
    """Name and qualified name of every scope that the compiler makes of a module, comprehensions passed over."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name not in _COMPREHENSIONS:
                yield constant.co_name, constant.co_qualname
            yield from compiled_scopes(constant)


def has_the_scopes_of_the_compiler(text: str) -> None:
    """Every scope is found once, and those that the compiler keeps have the names that it gives them."""
    code = compile(text, "x.py", "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    tree = ast.parse(text)
    annotations = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    unused = {id(inner) for one in annotations if one is not None for inner in ast.walk(one)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, _SCOPES) and id(node) not in unused]
    scopes = facts_of(text, deep=True).scopes[1:]
    assert Counter(scope.span for scope in scopes) == Counter(span_of(node) for node in nodes)
    kept = Counter(compiled_scopes(code)) - Counter((scope.name, scope.qualname) for scope in scopes)
    assert kept == {}


def agrees(shallow: FileFacts, deep: FileFacts) -> None:
    """What the shallow facts have is in the deep ones, at the same index."""
    assert [(one.kind, one.name, one.qualname, one.span, one.parent) for one in shallow.scopes] == [
        (one.kind, one.name, one.qualname, one.span, one.parent) for one in deep.scopes[: len(shallow.scopes)]
    ]
    for one, other in zip(shallow.scopes, deep.scopes, strict=False):
        assert not other.deferred
        assert one.deferred or plain(one) == plain(other)
    assert deep.imports[: len(shallow.imports)] == shallow.imports
    assert deep.bindings[: len(shallow.bindings)] == shallow.bindings
    used = {(ref.scope, ref.name, ref.when, call) for ref in deep.refs for call in (ref.call, False)}
    assert {(ref.scope, ref.name, ref.when, ref.call) for ref in shallow.refs} <= used
    assert set(shallow.slots) <= set(deep.slots)
    assert set(shallow.entry_strings) <= set(deep.entry_strings)
    assert (deep.exports, deep.truths, deep.embedded) == (shallow.exports, shallow.truths, shallow.embedded)
    assert deep.choices == shallow.choices
    assert plain(deep.tree) == plain(shallow.tree)
    assert (deep.deep, shallow.deep) == (True, False)


@settings(deadline=None, max_examples=150)
@given(source=st.randoms(use_true_random=False))
def test_shallow_and_deep(source: random.Random) -> None:
    """A shallow walk finds a part of what a deep one finds, and counts it in the same way."""
    text = ModuleProgram(source).text()
    note(text)
    shallow, deep = facts_of(text), facts_of(text, deep=True)
    if shallow.problem is None:
        agrees(shallow, deep)
        assert len(deep.imports) == len(shallow.imports)


@pytest.mark.parametrize("path", FILES)
def test_shallow_and_deep_of_files(path: str) -> None:
    """So it is for the files of this repository."""
    agrees(facts_of(read(path)), facts_of(read(path), deep=True))


@settings(deadline=None, max_examples=150)
@given(source=st.randoms(use_true_random=False))
def test_scopes_are_those_of_the_compiler(source: random.Random) -> None:
    """Every function, class and lambda is found, with the name that Python gives it."""
    text = ModuleProgram(source).text()
    note(text)
    if facts_of(text).problem is None and _compiles(text):
        has_the_scopes_of_the_compiler(text)


def _compiles(text: str) -> bool:
    try:
        compile(text, "x.py", "exec")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("path", FILES)
def test_scopes_of_files(path: str) -> None:
    """So it is for the files of this repository."""
    has_the_scopes_of_the_compiler(read(path))
