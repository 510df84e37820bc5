"""Putting the call of a slot under a check of that slot: the fix of OPS305."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Fix, Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.expression_places import ancestors, expression_at
from veomni_opslint.model.factories import parsed
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, line_around

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOSE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
_OPPOSITE = "use_eager_impl"
_BOUND = "is_bound"


def checked(model: OpsModel, place: Place, name: str) -> Proposal:
    """Let the call at *place* of the slot *name* run only where a kernel is bound.

    Raises:
        NotPossibleError: nobody but the author knows what runs while the op is eager.
    """
    facts = model.files[place.path]
    node, tree = expression_at(facts, place), parsed(facts.text)
    if node is None or tree is None:
        raise NotPossibleError("the call is in code that is held in a string")
    guard = f"{name}.{model.dialect.slot_guard}"
    around = ancestors(tree, node)
    outermost = next((one for one in around if isinstance(one, _FUNCTIONS)), tree)
    if not any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(outermost)):
        raise NotPossibleError("the slot goes by another name here")
    below: ast.AST = node
    for index, one in enumerate(around):
        if isinstance(one, ast.Lambda):
            raise NotPossibleError("a lambda calls the slot: who calls the lambda has to check, and is not known")
        if isinstance(one, _FUNCTIONS):
            break
        if isinstance(one, ast.If | ast.IfExp):
            branch = one.body if isinstance(one.body, list) else [one.body]
            if below in branch:
                changed = _other_test(model, facts, one, name, around[index:])
                if changed is not None:
                    return changed
            elif below is not one.test and _asks(one.test, guard):
                raise NotPossibleError("the call is in the branch for the eager op: its author knows which is which")
        below = one
    return _wrapped(model, facts, around, name)


def _other_test(
    model: OpsModel, facts: FileFacts, outer: ast.If | ast.IfExp, name: str, around: tuple[ast.AST, ...]
) -> Proposal | None:
    """Let the condition of *outer*, in whose positive branch the call is, ask for the kernel."""
    guard = f"{name}.{model.dialect.slot_guard}"
    start, end = extent(facts.text, model.place(facts.path, span_of(outer.test)))
    written = ast.unparse(outer.test)
    if written in (name, f"{name}.{_BOUND}"):
        return Proposal(Fix(f"ask `{guard}`", safe=True), lambda: (Edit(start, end, guard),))
    if not _goes_on(outer, around):
        return None
    instead = Proposal(Fix(f"ask `{guard}` instead", safe=False), lambda: (Edit(start, end, guard),))
    if written in (f"{name}.{_OPPOSITE}", *(f"not {one}" for one in (name, f"{name}.{_BOUND}", guard))):
        return instead
    if isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.Or) and _asks(outer.test, guard):
        return instead
    owner, _, asked = written.rpartition(".")
    if asked == model.dialect.slot_guard and owner != name and not _mentions(outer.body, owner):
        return instead
    test = facts.text[start:end]
    both = f"({test}) and {guard}" if _is_loose(outer.test) else f"{test} and {guard}"
    return Proposal(Fix(f"ask `{guard}` as well", safe=False), lambda: (Edit(start, end, both),))


def _wrapped(model: OpsModel, facts: FileFacts, around: tuple[ast.AST, ...], name: str) -> Proposal:
    """Put a `return` that other code follows, which never runs, under a check of its own."""
    statement = next(one for one in around if isinstance(one, ast.stmt))
    outer = around[around.index(statement) + 1]
    block, index = _block_of(statement, outer)
    if not isinstance(statement, ast.Return) or not block[index + 1 :]:
        raise NotPossibleError("no code follows that could run while the op is eager")
    start, end = extent(facts.text, model.place(facts.path, span_of(statement)))
    first, last = line_around(facts.text, start)[0], line_around(facts.text, end)[1]
    margin = facts.text[first:start]
    if margin.strip() or facts.text[end:last].strip()[:1] not in ("", "#"):
        raise NotPossibleError("the line holds another statement, too")
    texts = [one for one in ast.walk(statement) if isinstance(one, ast.Constant | ast.JoinedStr)]
    if any(one.lineno != one.end_lineno for one in texts):
        raise NotPossibleError("the statement holds a text of several lines, which cannot be moved")
    guard = f"{name}.{model.dialect.slot_guard}"
    indent = margin[getattr(outer, "col_offset", 0) :]
    body = facts.text[start:last].replace("\n", f"\n{indent}")
    edit = Edit(start, last, f"if {guard}:\n{margin}{indent}{body}")
    return Proposal(Fix(f"put it under `if {guard}:`", safe=False), lambda: (edit,))


def _goes_on(outer: ast.If | ast.IfExp, around: tuple[ast.AST, ...]) -> bool:
    """Whether there is code for when the condition does not hold."""
    if isinstance(outer, ast.IfExp) or outer.orelse:
        return True
    if not isinstance(outer.body[-1], ast.Return | ast.Raise | ast.Continue):
        return False
    below: ast.AST = outer
    for one in around[1:]:
        block, index = _block_of(below, one)
        if block[index + 1 :]:
            return True
        if isinstance(one, _FUNCTIONS):
            return False
        below = one
    return False


def _block_of(statement: ast.AST, outer: ast.AST) -> tuple[list[ast.stmt], int]:
    """The block of *outer* that a statement stands in, and its index."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(outer, name, None)
        if isinstance(block, list) and statement in block:
            return block, block.index(statement)
    return [], 0


def _asks(test: ast.expr, guard: str) -> bool:
    return any(isinstance(one, ast.Attribute) and ast.unparse(one) == guard for one in ast.walk(test))


def _mentions(body: list[ast.stmt] | ast.expr, name: str) -> bool:
    return any(ast.unparse(one) == name for part in _nodes(body) for one in ast.walk(part) if isinstance(one, ast.expr))


def _nodes(body: list[ast.stmt] | ast.expr) -> Iterator[ast.AST]:
    yield from body if isinstance(body, list) else (body,)


def _is_loose(test: ast.expr) -> bool:
    """Whether an `and` would bind more closely than what *test* is made of."""
    return isinstance(test, _LOOSE) and not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And))
