"""A function pointer is assigned, or deleted, outside its apply function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, statements_of, text_of
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.pointer_owners import modules_of, owner
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_TAKES_A_NAME = ("setattr", "delattr", "globals", "vars", "__dict__")
_Node = ast.expr | ast.alias


def check(model: OpsModel) -> Iterator[Finding]:
    pointers = {key: one for key, one in model.rebindable.items() if one is not None and (one.apply or one.op)}
    for module, names in model.pointer_mentions.items():
        facts = model.module(module)
        if is_test(facts.path):
            continue
        for pointer in (one for one in pointers.values() if one.name in names):
            nodes = _in_own_module(facts, pointer) if module == pointer.module else ()
            for node in (*nodes, *_through_module(model, module, facts, pointer)):
                message = _message(model, pointer, deleted=_is_deletion(node))
                yield rule.finding(model.place(facts.path, span_of(node)), message, _related(pointer))


def _in_own_module(facts: FileFacts, pointer: Pointer) -> Iterator[_Node]:
    """Assignments in functions of the pointer's module that are neither an apply function nor called by one."""
    for scope in facts.scopes:
        if scope.kind != "function" or not _declares(facts, scope, pointer.name):
            continue
        if scope.qualname.partition(".")[0] in _appliers(facts, pointer):
            continue
        for statement in statements_of(facts, scope):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    if node.id == pointer.name and not isinstance(node.ctx, ast.Load):
                        yield node
                elif isinstance(node, ast.alias) and (node.asname or node.name) == pointer.name:
                    yield node


def _declares(facts: FileFacts, scope: Scope, name: str) -> bool:
    body = "\n".join(facts.lines[scope.span[0] - 1 : scope.span[2]])
    return re.search(rf"^\s*global\b[^\n]*\b{re.escape(name)}\b", body, re.MULTILINE) is not None


def _appliers(facts: FileFacts, pointer: Pointer) -> set[str]:
    """The apply functions, and the functions of the module that they call."""
    lines = facts.lines
    texts = {
        scope.name: "\n".join(lines[scope.span[0] : scope.span[2]])
        for scope in facts.scopes
        if scope.kind == "function" and scope.parent == 0
    }
    found: set[str] = set()
    pending = [one.name for one in pointer.apply]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [one for one in texts if re.search(rf"(?<![\w.]){re.escape(one)}\(", texts.get(name, ""))]
    return found


def _through_module(model: OpsModel, module: str, facts: FileFacts, pointer: Pointer) -> Iterator[_Node]:
    """``moe._pointer = …``, ``setattr(moe, "_pointer", …)`` and ``del moe._pointer``, wherever they are."""
    if not _may_assign(facts.text, pointer.name):
        return
    for node in _code_with(facts, pointer.name):
        base = _assigned(node, pointer.name)
        if base is None or not isinstance(node, ast.expr):
            continue
        deep = model.deep(module)
        scope = _innermost(deep, node.lineno)
        if scope.qualname.partition(".")[0] in _appliers(facts, pointer) and module == pointer.module:
            continue
        if _is_own_namespace(base):
            if module == pointer.module:
                yield node
            continue
        resolve = partial(model.symbols.resolve_deep, deep, module, scope.index)
        if any(
            owner(model.symbols, model.rebindable, there, pointer.name) == (pointer.module, pointer.name)
            for there in modules_of(base, resolve)
        ):
            yield node


def _may_assign(text: str, name: str) -> bool:
    """Whether a line looks like an assignment to an attribute *name*, or has the name as a string for such."""
    pattern = re.compile(
        rf"\.{re.escape(name)}\s*(?:[:,)\]].*)?=(?!=)|\b(?:as|del)\s.*\.{re.escape(name)}\b"
        + (rf"|[\"']{re.escape(name)}[\"']" if any(word in text for word in _TAKES_A_NAME) else "")
    )
    position = text.find(name)
    while position >= 0:
        end = text.find("\n", position)
        end = end if end >= 0 else len(text)
        if pattern.search(text[text.rfind("\n", 0, position) + 1 : end]):
            return True
        position = text.find(name, end)
    return False


def _code_with(facts: FileFacts, name: str) -> Iterator[ast.AST]:
    """The code at module level and in the functions that mention *name*."""
    if facts.tree is not None:
        yield from ast.walk(facts.tree)
    for scope in facts.scopes:
        outermost = scope.kind == "function" and facts.scopes[scope.parent].kind in ("module", "class")
        if outermost and name in text_of(facts, scope.span):
            yield from (node for statement in statements_of(facts, scope) for node in ast.walk(statement))


def _assigned(node: ast.AST, name: str) -> ast.expr | None:
    """The module in whose namespace a node assigns or deletes *name*."""
    if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and len(node.args) == {"setattr": 3, "delattr": 2}.get(dotted(node.func)):
        return node.args[0] if _is_text(node.args[1], name) else None
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_text(node.slice, name):
        table = node.value
        if isinstance(table, ast.Attribute) and table.attr == "__dict__":
            return table.value
        if isinstance(table, ast.Call) and dotted(table.func) == "vars" and table.args:
            return table.args[0]
        if isinstance(table, ast.Call) and dotted(table.func) == "globals":
            return table
    return None


def _is_deletion(node: _Node) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Del) or (
        isinstance(node, ast.Call) and dotted(node.func) == "delattr"
    )


def _is_text(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _is_own_namespace(base: ast.expr) -> bool:
    if isinstance(base, ast.Subscript):
        return dotted(base.value) == "sys.modules" and dotted(base.slice) == "__name__"
    return isinstance(base, ast.Call) and dotted(base.func) == "globals"


def _innermost(facts: FileFacts, line: int) -> Scope:
    found = facts.scopes[0]
    for scope in facts.scopes[1:]:
        if scope.span[0] <= line <= scope.span[2] and scope.span[0] >= found.span[0]:
            found = scope
    return found


def _message(model: OpsModel, pointer: Pointer, deleted: bool) -> str:
    if pointer.apply:
        right = f"`{pointer.apply[0].name}`"
        advice = f"bind it in {right}"
    else:
        right = f"the op `{pointer.op}`"
        advice = f"register a {model.dialect.backend_spec} for {right} and select it in the configuration"
    if deleted:
        return (
            f"`{pointer.name}` is deleted outside {right}: every later call of the op in this process raises NameError "
            "and no check can say what to configure; a pointer without kernel is None"
        )
    return (
        f"`{pointer.name}` is assigned outside {right}: the configuration says one kernel and another one runs, "
        f"without the checks of the hardware, until something binds the pointer again; {advice}"
    )


def _related(pointer: Pointer) -> list[Related]:
    return [
        Related(pointer.place, f"the pointer `{pointer.name}`"),
        *(Related(one.place, f"`{one.name}` rebinds it") for one in pointer.apply),
    ]
