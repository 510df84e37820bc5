"""Where a slot is stored or passed on, and not called or asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Scope, Span
from veomni_opslint.model.local_slots import LocalSlots
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.sites import Path, tree_of
from veomni_opslint.model.slot_names import Names, mentions
from veomni_opslint.model.slots import OpSlotInfo

_ASKING = frozenset({
    "isinstance", "issubclass", "type", "repr", "str", "id", "hash", "len", "format", "getattr", "hasattr", "callable",
    "bool", "vars", "dir", "print", "delattr", "all", "any", "next", "raises", "log",
})  # fmt: skip
_ASKING_WORDS = frozenset({
    "bind", "rebind", "unbind", "is", "has", "check", "require", "requires", "ensure", "validate", "verify", "log",
    "debug", "info", "warn", "warning", "error", "exception", "critical", "usable", "supports", "should", "describe",
    "use", "can", "needs",
})  # fmt: skip
_LOGGERS = frozenset({"logger", "logging", "log", "warnings"})
_GATHERING = frozenset({
    "list", "tuple", "set", "frozenset", "dict", "zip", "enumerate", "iter", "map", "filter", "sorted", "reversed",
    "chain", "OrderedDict",
})  # fmt: skip
_ADDING = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "appendleft", "push"})
_CONTAINERS = (
    ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp,
    ast.BinOp,
)  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Escape(NamedTuple):
    """A slot that is kept by something (``self.norm``, ``a default argument``) or passed to something."""

    module: str
    span: Span
    slot: OpSlotInfo
    kept_by: str = ""
    passed_to: str = ""


class _End(NamedTuple):
    """What becomes of a value: it is kept or passed on, or, if it is ``local``, it is under another name."""

    kept_by: str = ""
    passed_to: str = ""
    local: str = ""


def escaping_slots(model: OpsModel, names: Mapping[str, Names]) -> Iterator[Escape]:
    """All of them, in order of module and place."""
    for module, known in names.items():
        facts = model.module(module)
        found: dict[Span, Escape] = {}
        for mention in mentions(module, facts, known, model.dialect):
            if not mention.others:
                continue
            root = tree_of(facts, mention.function) if mention.function is not None else facts.tree
            if root is not None:
                for escape in _Escapes(model, module, mention.function, known, root).all():
                    found.setdefault(escape.span, escape)
        yield from (found[span] for span in sorted(found))


class _Escapes:
    """The escapes in one function, or in the code outside functions."""

    def __init__(self, model: OpsModel, module: str, function: Scope | None, names: Names, root: ast.Module) -> None:
        self._model = model
        self._module = module
        self._scope = function.index if function is not None else 0
        self._in_function = function is not None
        self._function_name = function.name if function is not None else ""
        self._parameters = {one.name for one in function.parameters} if function is not None else set()
        self._root = root
        self._slots = LocalSlots(names, model.dialect.slot_kernel, root)
        self._stored = {
            one.id for one in ast.walk(root) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }

    def all(self) -> Iterator[Escape]:
        carriers: dict[str, list[tuple[ast.expr, OpSlotInfo]]] = {}
        for node, path in _loads(self._root):
            slot = self._slots.known.get(node.id)
            end = self.end_of(node, path) if slot is not None else None
            if slot is None or end is None:
                continue
            if end.local:
                carriers.setdefault(end.local, []).append((node, slot))
            else:
                yield Escape(self._module, span_of(node), slot, end.kept_by, end.passed_to)
        for node, path in _loads(self._root) if carriers else ():
            if node.id in carriers and node.id not in self._slots.known:
                end = self.end_of(node, path)
                if end is not None and not end.local:
                    for source, slot in carriers[node.id]:
                        yield Escape(self._module, span_of(source), slot, end.kept_by, end.passed_to)

    def end_of(self, node: ast.expr, path: Path) -> _End | None:
        """What becomes of a value at the end of the expressions around it; None where it is only asked or called."""
        inner: ast.AST = node
        gathered = False
        for depth in range(len(path) - 1, -1, -1):
            outer = path[depth]
            if isinstance(outer, ast.Attribute):
                around = path[depth - 1]
                method = outer.attr in ("__call__", self._model.dialect.slot_kernel)
                if not method or (isinstance(around, ast.Call) and around.func is outer):
                    return None
            elif isinstance(outer, ast.Call):
                if inner is outer.func:
                    return None
                name = dotted(outer.func)
                if name.rpartition(".")[2] in _GATHERING:
                    gathered = True
                else:
                    return self._argument(outer, inner, name)
            elif isinstance(outer, _CONTAINERS):
                gathered = True
            elif isinstance(outer, ast.IfExp):
                if inner is outer.test:
                    return None
            elif isinstance(outer, ast.keyword | ast.BoolOp | ast.NamedExpr | ast.Await):
                pass
            elif isinstance(outer, ast.Lambda | ast.Return | ast.Yield | ast.YieldFrom):
                return _End(passed_to="the caller")
            elif isinstance(outer, ast.arguments):
                return _End(kept_by="a default argument")
            elif isinstance(outer, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets: list[ast.expr] = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
                return self._assigned(targets, outer.value, node, path[:depth], gathered)
            else:
                return None
            inner = outer
        return None

    def _assigned(
        self, targets: list[ast.expr], value: ast.expr | None, node: ast.expr, path: Path, gathered: bool
    ) -> _End | None:
        for target in targets:
            chosen = _paired(target, value, node)
            if isinstance(chosen, ast.Attribute):
                if self._is_module(dotted(chosen.value)):
                    return None
                return _End(kept_by=f"`{dotted(chosen) or chosen.attr}`")
            if isinstance(chosen, ast.Subscript):
                owner = dotted(chosen.value)
                return _End(local=owner) if owner and "." not in owner else _End(kept_by=f"`{owner or 'a container'}`")
            if isinstance(chosen, ast.Name):
                holder = next((one for one in reversed(path) if isinstance(one, ast.ClassDef | _Function)), None)
                if isinstance(holder, ast.ClassDef):
                    return _End(kept_by=f"the class attribute `{holder.name}.{chosen.id}`")
                if isinstance(holder, _Function):
                    return _End(local=chosen.id)
                if gathered and self._is_dispatched(chosen.id):
                    return _End(kept_by=f"the table `{chosen.id}`")
        return None

    def _is_module(self, name: str) -> bool:
        """Whether a name is that of a module, in which binding finds a slot again."""
        targets = self._model.symbols.resolve(self._module, self._scope, name) if name else ()
        return any(one.kind in ("module", "external") for one in targets)

    def _is_dispatched(self, name: str) -> bool:
        """Whether a module-level container is one from which a single slot is taken."""
        text = self._model.module(self._module).text
        return f"{name}[" in text or f"{name}.get(" in text

    def _argument(self, call: ast.Call, inner: ast.AST, name: str) -> _End | None:
        owner, _, last = name.rpartition(".")
        plain = last.lstrip("_")
        if last in _ASKING or plain.partition("_")[0] in _ASKING_WORDS or plain.startswith("assert"):
            return None
        if name.partition(".")[0] in _LOGGERS:
            return None
        if last == "setattr" and (call.args[:1] == [inner] or self._is_module(dotted(call.args[0]))):
            return None
        if last in _ADDING and owner and "." not in owner and owner != "self":
            return self._added_to(owner)
        if name and self._only_asks(call, inner, name):
            return None
        return _End(passed_to=f"`{name or ast.unparse(call.func)}`")

    def _added_to(self, container: str) -> _End | None:
        """What becomes of a slot that is put into a container which has a name of its own."""
        if container in self._parameters:
            # Who gathers slots by that word binds them, or asks them.
            gathers = "slot" in f"{container} {self._function_name}"
            return None if gathers else _End(kept_by=f"the argument `{container}`")
        if self._in_function and container in self._stored:
            return _End(local=container)
        return _End(kept_by=f"the table `{container}`") if self._is_dispatched(container) else None

    def _only_asks(self, call: ast.Call, inner: ast.AST, name: str) -> bool:
        """Whether the function called is one of the project that does no more than to call or to ask its argument."""
        targets = self._model.symbols.resolve(self._module, self._scope, name)
        if not targets:
            return "." not in name and name != "setattr"
        for target in targets:
            if target.kind != "scope" or target.rest:
                return False
            facts = self._model.module(target.module)
            function = facts.scopes[target.scope]
            root = tree_of(facts, function) if function.kind == "function" else None
            parameter = _parameter(function, call, inner)
            if root is None or not parameter:
                return function.kind == "function"
            for node, path in _loads(root):
                if node.id == parameter and _Escapes(self._model, target.module, function, {}, root).end_of(node, path):
                    return False
        return True


def _loads(root: ast.AST) -> Iterator[tuple[ast.Name, Path]]:
    stack: list[tuple[ast.AST, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                yield node, path
            continue
        inner = (*path, node)
        stack.extend((child, inner) for child in reversed(list(ast.iter_child_nodes(node))))


def _paired(target: ast.expr, value: ast.expr | None, node: ast.expr) -> ast.expr:
    """The part of an unpacked target that takes the value with the node in it."""
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, part in zip(target.elts, value.elts, strict=False):
            if any(inner is node for inner in ast.walk(part)):
                return one
    return target


def _parameter(function: Scope, call: ast.Call, inner: ast.AST) -> str:
    """The parameter that takes an argument of a call; empty for one that takes several."""
    if isinstance(inner, ast.keyword):
        names = [one.name for one in function.parameters if one.kind in ("normal", "keyword")]
        return inner.arg if inner.arg in names else ""
    plain = [one.name for one in function.parameters if one.kind in ("positional", "normal")]
    if plain[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        plain = plain[1:]
    position = next((index for index, one in enumerate(call.args) if one is inner), len(plain))
    return plain[position] if position < len(plain) else ""
