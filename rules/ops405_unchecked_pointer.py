"""A public op calls its function pointer without a check that the pointer is bound."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from veomni_opslint.conditions import Condition, both, possible
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Call, FileFacts, Scope, Span, statements_of, text_of
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.pointers import Pointer, local_names
from veomni_opslint.model.sites import Path, outer_functions, sites_in, tree_of
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


class _Called(NamedTuple):
    """A call of a pointer: its place, the condition on the path to it, and the functions around it, innermost first.

    ``name`` is what the pointer is called there.
    """

    name: str
    span: Span
    when: Condition
    within: list[Scope]


def check(model: OpsModel) -> Iterator[Finding]:
    for pointer in model.pointers:
        if not pointer.public or not _begins_unbound(model, pointer):
            continue
        facts = model.deep(pointer.module)
        setters = {one.name for one in pointer.apply}
        for call in (*_calls(facts, pointer), *_calls_by_other_names(model, facts, pointer)):
            if not call.within or any(scope.name in setters for scope in call.within):
                continue
            if possible(call.when, lambda atom, name=pointer.name: _truth_unbound(atom, name)) and (  # type: ignore[misc]
                not _is_checked_otherwise(model, facts, call, pointer)
            ):
                yield rule.finding(
                    model.place(facts.path, call.span),
                    _message(pointer, _name_of(call.within[-1], pointer)),
                    [Related(pointer.place, f"`{pointer.name}` is unbound until it is applied")],
                )


def _calls(facts: FileFacts, pointer: Pointer) -> Iterator[_Called]:
    for call in facts.calls:
        if call.name == pointer.name:
            when, index = call.when, call.scope
            while index > 0:
                when = both(facts.scopes[index].when, when)
                index = facts.scopes[index].parent
            yield _Called(call.name, call.span, when, _functions_around(facts, call, pointer))


def _calls_by_other_names(model: OpsModel, facts: FileFacts, pointer: Pointer) -> Iterator[_Called]:
    """Calls in functions that first give the pointer a name of their own."""
    given = re.compile(rf"\w\s*(?::[^=\n]+)?:?=\s*{re.escape(pointer.name)}\b")
    if given.search(facts.text) is None:
        return
    for function in outer_functions(facts):
        root = tree_of(facts, function) if given.search(text_of(facts, function.span)) else None
        names = local_names(root, pointer.name) - {pointer.name} if root is not None else ()
        if root is None or not names:
            continue

        def is_call(node: ast.expr, path: Path, names: Collection[str] = names) -> bool:
            outer = path[-1] if path else None
            return (
                isinstance(node, ast.Name) and node.id in names and isinstance(outer, ast.Call) and outer.func is node
            )

        for site in sites_in(root, model.dialect, is_call, function=True):
            call = site.path[-1]
            if isinstance(call, ast.Call):
                yield _Called(dotted(call.func), span_of(call), both(function.when, site.when), [function])


def _begins_unbound(model: OpsModel, pointer: Pointer) -> bool:
    """Whether the pointer is None at first; one that begins with a default implementation needs no check."""
    facts = model.module(pointer.module)
    values = [
        value
        for statement in (facts.tree.body if facts.tree is not None else [])
        for target, value in _assignments(statement)
        if target == pointer.name
    ]
    return bool(values) and all(isinstance(value, ast.Constant) and value.value is None for value in values)


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield dotted(node.target), node.value
        elif isinstance(node, ast.Assign):
            yield from ((dotted(target), node.value) for target in node.targets)


def _functions_around(facts: FileFacts, call: Call, pointer: Pointer) -> list[Scope]:
    """The functions that the call is in, innermost first; none in code that runs when the module is loaded."""
    found: list[Scope] = []
    index = call.scope
    while index > 0:
        scope = facts.scopes[index]
        if scope.kind == "function" or (scope.kind == "lambda" and not found and _name_of(scope, pointer)):
            found.append(scope)
        index = scope.parent
    return found


def _name_of(scope: Scope, pointer: Pointer) -> str:
    """The name of a function, or that which the module gives a lambda."""
    if scope.kind == "function":
        return scope.name
    return next((one.name for one in pointer.public if one.place.line == scope.span[0]), "")


def _truth_unbound(atom: Condition, name: str) -> bool | None:
    """The truth of an atom while the pointer is None."""
    kind = atom[0]
    pointer = ("name", name)
    if atom == pointer:
        return False
    if kind == "cmp" and pointer in atom[2:]:
        other = atom[3] if atom[2] == pointer else atom[2]
        if other == ("const", None) and atom[1] in ("Is", "Eq"):
            return True
        if other == ("const", None) and atom[1] in ("IsNot", "NotEq"):
            return False
    if kind == "call" and atom[1] == "callable":
        return False
    return None


def _is_checked_otherwise(model: OpsModel, facts: FileFacts, call: _Called, pointer: Pointer) -> bool:
    """Whether something that cannot be read as a condition stands before the call: a helper, a decorator, a handler."""
    outermost = call.within[-1]
    if _is_handed_out(facts, _name_of(outermost, pointer), pointer):
        return True
    if any(_is_of_project(model, pointer.module, one) for scope in call.within for one in scope.decorators):
        return True
    for statement in statements_of(facts, outermost) if outermost.kind == "function" else ():
        for node in ast.walk(statement):
            if isinstance(node, ast.Try) and _spans(node, call) and node.handlers:
                return True
            if (
                isinstance(node, ast.Call)
                and span_of(node)[:2] < call.span[:2]
                and _binds(facts, node, call.name, pointer)
            ):
                return True
            if isinstance(node, ast.Global) and pointer.name in node.names:
                return True
    return False


def _is_handed_out(facts: FileFacts, name: str, pointer: Pointer) -> bool:
    """Whether an apply function itself gives the op to those who call it, so that nobody has it before."""
    setters = {one.name for one in pointer.apply}
    for scope in facts.scopes:
        if scope.kind != "function" or scope.parent != 0 or scope.name not in setters:
            continue
        nodes = [node for statement in statements_of(facts, scope) for node in ast.walk(statement)]
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        if any(isinstance(node, ast.Name) and node.id == name and id(node) not in called for node in nodes):
            return True
    return False


def _spans(node: ast.Try, call: _Called) -> bool:
    return node.lineno <= call.span[0] <= (node.body[-1].end_lineno or node.lineno)


def _is_of_project(model: OpsModel, module: str, name: str) -> bool:
    return any(target.kind != "external" for target in model.symbols.resolve(module, 0, name.partition("(")[0]))


def _binds(facts: FileFacts, node: ast.Call, name: str, pointer: Pointer) -> bool:
    """Whether a call before gets the pointer, or is of a function of the module that deals with it."""
    if any(isinstance(one, ast.Name) and one.id in (name, pointer.name) for one in node.args):
        return dotted(node.func) not in ("print", "repr", "str", "id", "type", "callable") and not _is_logging(node)
    called = dotted(node.func)
    if called in {one.name for one in pointer.apply}:
        return True
    mention = re.compile(rf"\b{re.escape(pointer.name)}\b")
    public = {one.name for one in pointer.public}
    return any(
        scope.name == called and scope.kind == "function" and scope.parent == 0 and called not in public
        and mention.search(text_of(facts, scope.span)) is not None
        for scope in facts.scopes
    )  # fmt: skip


def _is_logging(node: ast.Call) -> bool:
    return dotted(node.func).partition(".")[0] in ("logger", "logging", "log", "warnings")


def _message(pointer: Pointer, function: str) -> str:
    setter = f" before `{pointer.apply[0].name}` has run" if pointer.apply else ""
    return (
        f"`{function}` calls `{pointer.name}` without a check that it is bound:{setter or ' unbound'} it fails "
        "with \"'NoneType' object is not callable\" in the middle of a forward pass; begin with "
        f"`if {pointer.name} is None: raise NotImplementedError(…)` that says what to configure"
    )
