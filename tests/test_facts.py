"""What the facts of a file tell by themselves: parameters, texts of spans, bodies of functions, and pickling."""

from __future__ import annotations

import ast
import inspect
import pickle

import pytest
from support.facts import FILES, facts_of, plain, read

from veomni_opslint.facts import FileFacts, Span, text_of
from veomni_opslint.parameters import Parameter

BODIES = '''\
import os
def one(a, *, b=1): return a; pass
class Outer:
\tclass Inner:
\t\t@staticmethod
\t\tasync def tabs(x):
\t\t\treturn """
at the margin
\\
"""
    # comment at another margin
if os:
    if os:
        def é(a="ü"): return "ß", [
1,
2]
    def decorated(): pass
\x0cdef after_form_feed():
    x = 1
    return x
class A:
 \x0c def method(self):
      return self
def with_nested():
    def inner(
        a,
    ):
        return a
    return inner
'''


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "a",
        "a, b=1",
        "a, /, b",
        "a=1, /, b=2",
        "*a",
        "**a",
        "*, a, b=1",
        "a, /, b, c=1, *d, e, f=2, **g",
        "a: int, /, b: str = '', *c: int, d: int = 1, **e: int",
    ],
)
def test_parameters(signature: str) -> None:
    """Names, kinds and defaults are those that Python finds."""
    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: "positional",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "normal",
        inspect.Parameter.VAR_POSITIONAL: "var",
        inspect.Parameter.KEYWORD_ONLY: "keyword",
        inspect.Parameter.VAR_KEYWORD: "kwvar",
    }
    namespace: dict[str, object] = {}
    exec(f"def f({signature}): pass", namespace)
    expected = inspect.signature(namespace["f"]).parameters.values()  # type: ignore[arg-type]
    facts = facts_of(f"def f({signature}): pass\n")
    assert facts.scopes[1].parameters == tuple(
        Parameter(one.name, kinds[one.kind], one.default is not inspect.Parameter.empty)  # type: ignore[arg-type]
        for one in expected
    )
    assert facts.scopes[0].parameters == ()


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ((1, 0, 1, 5), "x = 1"),
        ((2, 4, 2, 8), "'é'"),
        ((2, 4, 4, 3), "'é', [\n  1,\n  2"),
        ((4, 3, 4, 3), ""),
        ((3, 2, 3, 90), "1,"),
        ((9, 0, 9, 1), ""),
    ],
)
def test_text_of(span: Span, text: str) -> None:
    """The text of a span is cut where the parser's bytes say; beyond the text there is none."""
    assert text_of(FileFacts("x.py", "x = 1\ny = 'é', [\n  1,\n  2]\n", None), span) == text


@pytest.mark.parametrize("text", [BODIES, *map(read, FILES)], ids=["bodies", *FILES])
def test_function_body(text: str) -> None:
    """The body of every function that the tree shows is what a parse of the whole file has there."""
    facts = facts_of(text)
    whole = {
        (node.lineno, node.col_offset): [ast.dump(one, include_attributes=True) for one in node.body]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert facts.tree is not None
    shown = [node for node in ast.walk(facts.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [node.body for node in shown] == [[]] * len(shown)
    for node in shown:
        found = [ast.dump(one, include_attributes=True) for one in facts.function_body(node)]
        assert found == whole[node.lineno, node.col_offset]


def test_every_function_outside_functions_is_shown() -> None:
    """The pruned tree has the functions of the module, of classes and of branches."""
    facts = facts_of(BODIES)
    assert facts.tree is not None
    shown = {node.name for node in ast.walk(facts.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert shown == {"one", "after_form_feed", "with_nested", "decorated", "method", "é", "tabs"}


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("path", FILES)
def test_pickling(path: str, deep: bool) -> None:
    """Facts survive pickling as they are, so that they can be cached and come from another process."""
    facts = facts_of(read(path), deep=deep)
    assert plain(pickle.loads(pickle.dumps(facts))) == plain(facts)


def test_pickling_of_a_file_with_a_problem() -> None:
    """A file that cannot be parsed has facts that can be pickled, too."""
    facts = facts_of("def f(:  # noqa: OPS201\n")
    assert pickle.loads(pickle.dumps(facts)) == facts
