"""All that any rule needs to know of one file, from one parse and without knowledge of any other file.

What a file has many of is a named tuple: made in a third of the time of a frozen dataclass, and as immutable.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from veomni_opslint.conditions import Condition
from veomni_opslint.parameters import Parameter, parameters_of
from veomni_opslint.parsing import parse, parse_body, parse_function
from veomni_opslint.source import lines_of

Span = tuple[int, int, int, int]
"""Line, column, end line, end column: lines from 1, columns from 0 in UTF-8 bytes, as ``ast`` counts them."""

TextParts = tuple[tuple[Literal["text", "name", "param"], str], ...]
"""A string put together from written text, from names, which other modules may know, and from parameters."""


class ParseProblem(NamedTuple):
    """Why a file could not be parsed; ``line`` counts from 1, ``column`` from 0 and in characters."""

    line: int
    column: int
    message: str


class ImportedName(NamedTuple):
    """One name of a ``from`` import: ``name`` there, ``bound`` here; ``*`` for a star import."""

    name: str
    bound: str
    span: Span


class Import(NamedTuple):
    """One import statement (an ``import a, b`` gives two) or a dynamic import of a known name.

    ``when`` is the condition under which the statement runs once its scope runs. ``handled``: an enclosing ``try``
    catches ImportError and goes on. ``how``: ``import``, ``from``, ``import_module`` or ``__import__``.
    """

    scope: int
    span: Span
    module: str
    level: int
    names: tuple[ImportedName, ...]
    bound: str
    when: Condition
    handled: bool
    how: Literal["import", "from", "import_module", "__import__"]


class Scope(NamedTuple):
    """A module (index 0), class, function or lambda.

    ``when`` is the condition in the parent under which it is defined; ``gate`` that of decorators such as
    ``pytest.mark.skipif`` under which its body can run at all. ``returns`` is the condition under which a call
    returns something true, ``completes`` that under which it returns at all (for a module: is loaded to its end),
    as far as they are known. ``locals`` are the names that it binds, without imports and definitions. ``deferred``:
    the body was not walked, because nothing in it looked like an import or a name of the dialect. ``choices`` are what
    a function returns, each with its condition: constants, names and calls; empty where it may return anything else.
    """

    index: int  # type: ignore[assignment]
    parent: int
    kind: Literal["module", "class", "function", "lambda"]
    name: str
    qualname: str
    span: Span
    arguments: ast.arguments | None
    decorators: tuple[str, ...]
    bases: tuple[str, ...]
    when: Condition
    gate: Condition
    returns: Condition
    completes: Condition
    locals: frozenset[str]
    is_async: bool = False
    is_generator: bool = False
    deferred: bool = False
    choices: tuple[tuple[Condition, tuple[Any, ...]], ...] = ()
    metaclass: str = ""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order; empty for a module or class."""
        return parameters_of(self.arguments) if self.arguments is not None else ()


class Ref(NamedTuple):
    """A use of a name that the scope does not bind as a plain local: ``a.b.c`` as dotted text.

    Repeated uses under the same condition in one scope are given once, at the first, or the first call if there is one,
    or the first of these outside a ``try``; except for the device namespaces of the dialect (``torch_npu.…``,
    ``torch.npu.…``), which are given each time.
    ``call``: it is called there. ``handled``: inside a ``try`` that catches AttributeError, NameError or ImportError
    and goes on; ``import_handled``: one that catches ImportError.
    """

    scope: int
    name: str
    span: Span
    when: Condition
    call: bool
    handled: bool
    import_handled: bool


class Call(NamedTuple):
    """How a function is called by name, in deep facts: what ``inspect.Signature.bind`` needs to know of the arguments.

    The name of ``super().method(...)`` is ``super().method``.
    ``positional`` counts positional arguments, those written out in ``*(…)`` too; ``star`` and ``double_star`` say that
    ``*x`` or ``**x`` adds an unknown number. ``unpacked`` is the number of names that an assignment spreads the result
    over, 0 where it does not; ``unpacked_rest`` where one of them is starred. ``expected_to_raise``: inside
    ``pytest.raises``. ``unpacked_at``: the later assignment that does so, where the result has a name first.
    """

    scope: int
    name: str
    span: Span
    when: Condition
    positional: int
    star: bool
    keywords: tuple[str, ...]
    double_star: bool
    unpacked: int
    unpacked_rest: bool
    expected_to_raise: bool
    unpacked_at: Span | None = None


class Binding(NamedTuple):
    """One binding of a name at module or class level.

    ``target`` is what it is bound to: an index into ``imports`` (and the imported name), the scope defined, or the
    dotted text of the value assigned, where it is a name.
    ``literal`` is set for a plain string value.
    """

    scope: int
    name: str
    kind: Literal["import", "scope", "assign", "augment", "delete", "loop", "other"]
    span: Span
    when: Condition
    import_index: int = -1
    imported: str = ""
    target_scope: int = -1
    value_name: str = ""
    literal: str | None = None


class AttributeTruth(NamedTuple):
    """A value that a class, or ``self`` in a method of it, gets for an attribute, as a condition.

    ``owner`` is the scope of the class and ``scope`` that in which ``held`` is to be read. ``choices`` are constants,
    names and calls, one of which it is, each with its condition; empty where it may be something else.
    """

    owner: int
    name: str
    scope: int
    held: Condition
    choices: tuple[tuple[Condition, tuple[Any, ...]], ...] = ()


class SlotCall(NamedTuple):
    """A call ``OpSlot(...)`` or ``OpsConfigSlot(...)`` and the name it is assigned to (empty when none).

    ``at_module_level`` means that ``_bind_veomni_ops`` can see it: assigned to plain module-level ``names``, of which
    ``var`` is the last. ``op_name``/``variant`` (``op_name`` is the field of a config slot) are None where the file
    alone does not make them known; the parts say what they are put together from.
    """

    kind: Literal["op", "config"]
    scope: int
    var: str
    op_name: str | None
    variant: str | None
    span: Span
    when: Condition
    at_module_level: bool
    callee: str
    names: tuple[str, ...] = ()
    op_name_parts: TextParts = ()
    variant_parts: TextParts = ()


class EmbeddedBlock(NamedTuple):
    """Code held in a string that patch generation puts into the generated file.

    ``facts`` has its spans in the file that holds the string, and as its text the code that comes out of the string;
    ``call`` is the span of the ``add_post_import_block`` call. ``problem`` says why the code could not be known or
    parsed, and where in the file; ``known``: it could be known.
    """

    call: Span
    callee: str
    facts: FileFacts | None
    problem: ParseProblem | None
    known: bool = True


class Suppression(NamedTuple):
    """One suppression comment. ``rules`` are codes or names as written, with their places; empty for a bare noqa.

    ``unknown`` is a comment for opslint with another word than ``ignore``; ``span`` is that of the word.
    """

    kind: Literal["noqa", "ignore", "ignore-file", "unknown"]
    line: int
    span: Span
    rules: tuple[tuple[str, Span], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of one file; ``deep`` when no function body was passed over.

    Plain data (``tree`` is a pruned ``ast.Module``), so it can be pickled and cached.
    """

    path: str
    text: str
    problem: ParseProblem | None
    deep: bool = True
    scopes: tuple[Scope, ...] = ()
    imports: tuple[Import, ...] = ()
    refs: tuple[Ref, ...] = ()
    calls: tuple[Call, ...] = ()
    bindings: tuple[Binding, ...] = ()
    slots: tuple[SlotCall, ...] = ()
    entry_strings: tuple[tuple[str, Span, Condition], ...] = ()
    embedded: tuple[EmbeddedBlock, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    exports: tuple[tuple[str, Span], ...] | None = None
    truths: tuple[tuple[str, Condition], ...] = ()
    """For module-level names that end up holding a condition: the name and the condition."""
    choices: tuple[tuple[str, tuple[tuple[Condition, tuple[Any, ...]], ...]], ...] = ()
    """For module-level names that end up holding one of several constants, names or calls: when it is which."""
    attributes: tuple[AttributeTruth, ...] = ()
    tree: ast.Module | None = None
    """Module-level and class-level code; the bodies of functions are emptied, ``function_body`` reads them."""

    @property
    def lines(self) -> list[str]:
        """The lines of ``text``, split when they are first asked for. Not to be changed."""
        return lines_of(self.text)

    def function_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """The statements of a function whose body was pruned from ``tree``, with real positions."""
        return list(parse_body(self.text, node.lineno, node.col_offset, node.end_lineno or node.lineno))


def statements_of(facts: FileFacts, scope: Scope) -> tuple[ast.stmt, ...]:
    """The statements of a function, or of the whole module, with real positions; empty where they cannot be read."""
    line, column, end_line, _ = scope.span
    try:
        if scope.kind == "function":
            return parse_body(facts.text, line, column, end_line)
        return tuple(parse(facts.text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def function_of(facts: FileFacts, scope: Scope) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The whole definition of a function, parsed anew for a reader that changes it; None where it cannot be read."""
    line, column, end_line, _ = scope.span
    try:
        return parse_function(facts.text, line, column, end_line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text_of(facts: FileFacts, span: Span) -> str:
    """The source text of *span*, as written."""
    first, start, last, end = span
    lines = facts.lines[first - 1 : last]
    if not lines:
        return ""
    if first == last and lines[0].isascii():
        return lines[0][start:end]
    lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
    lines[0] = lines[0].encode()[start:].decode(errors="replace")
    return "\n".join(lines)
