"""Calls of slots under a local name or by a partial, and with arguments that have a name of their own."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.call_arguments import given_by
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Call, FileFacts, Scope
from veomni_opslint.model.call_targets import CallSite
from veomni_opslint.model.local_slots import LocalSlots
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.sites import outer_functions, tree_of
from veomni_opslint.model.slot_names import Names
from veomni_opslint.model.slots import OpSlotInfo

_UNPACKED = re.compile(r"[(,]\s*\*{1,2}([A-Za-z_]\w*)")
_LONGEST_CALL = 400
_FURTHEST = 4000
_PARTIAL = "partial"


class _Partial(NamedTuple):
    """A slot, and the arguments that it has before it is called."""

    slot: OpSlotInfo
    args: list[ast.expr]
    keywords: list[ast.keyword]


def indirect_calls(model: OpsModel) -> Iterator[CallSite]:
    """Those in functions, each as the call of the slot that it is."""
    kernel = model.dialect.slot_kernel
    for module, names in model.slot_names.items():
        facts = model.module(module)
        for function in _functions(facts, names, kernel):
            root = tree_of(facts, function)
            if root is not None:
                for call in _Function(root, names, kernel).calls(function.index):
                    yield CallSite(module, facts, call, False)


def _functions(facts: FileFacts, names: Names, kernel: str) -> Iterator[Scope]:
    """The functions whose text has something like such a call."""
    offsets = sorted(_worth_a_look(facts.text, names, f".{kernel}()"))
    if not offsets:
        return
    functions = outer_functions(facts)
    starts = [function.span[0] for function in functions]
    seen: set[int] = set()
    for offset in offsets:
        line = facts.text.count("\n", 0, offset) + 1
        at = bisect_right(starts, line) - 1
        if at >= 0 and line <= functions[at].span[2] and at not in seen:
            seen.add(at)
            yield functions[at]


def _worth_a_look(text: str, names: Names, kernel: str) -> Iterator[int]:
    for name in names:
        end = 0
        while (start := text.find(name, end)) >= 0:
            end = start + len(name)
            before = text[max(start - 80, 0) : start]
            named = before.endswith("= ") or f"{_PARTIAL}(" in before
            if text.startswith(kernel, end):
                if named or text.startswith("(", end + len(kernel)):
                    yield start
            elif text.startswith("(", end):
                given = text[end : end + _LONGEST_CALL]
                earlier = text[max(start - _FURTHEST, 0) : start]
                if "*" in given and any(f" {one} = " in earlier for one in _UNPACKED.findall(given)):
                    yield start
            elif named and text[end : end + 1] in ("\n", ",", ")"):
                yield start


class _Function:
    """One function, with the names that it gives a value once."""

    def __init__(self, root: ast.Module, names: Names, kernel: str) -> None:
        self.root = root
        self.names = names
        self.slots = LocalSlots(names, kernel, root)
        self.values = dict(_assigned_once(root))
        self.spread = {
            id(node.value): target
            for node in ast.walk(root)
            if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Tuple | ast.List)
        }

    def calls(self, scope: int) -> Iterator[Call]:
        for node in ast.walk(self.root):
            if not isinstance(node, ast.Call):
                continue
            found = self._called(node.func)
            name = next((one for one, slot in self.names.items() if found is not None and slot is found.slot), "")
            if found is None or not name:
                continue
            given = {one.arg for one in node.keywords}
            kept = [one for one in found.keywords if one.arg is None or one.arg not in given]
            args = [self._written(one) for one in (*found.args, *node.args)]
            keywords = [self._written_keyword(one) for one in (*kept, *node.keywords)]
            whole = ast.Call(node.func, args, keywords)
            if dotted(node.func) == name and args == node.args and keywords == node.keywords:
                continue
            target = self.spread.get(id(node))
            rest = target is not None and any(isinstance(one, ast.Starred) for one in target.elts)
            count = len(target.elts) - rest if target is not None else 0
            yield Call(scope, name, span_of(node), TRUE, *given_by(whole), count, rest, False)

    def _called(self, node: ast.expr) -> _Partial | None:
        slot = self.slots.slot_of(node)[0]
        if slot is not None:
            return _Partial(slot, [], [])
        partial = self.values.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(partial, ast.Call) and partial.args and dotted(partial.func).rpartition(".")[2] == _PARTIAL:
            slot = self.slots.slot_of(partial.args[0])[0]
            return _Partial(slot, partial.args[1:], partial.keywords) if slot is not None else None
        return None

    def _written(self, argument: ast.expr) -> ast.expr:
        """``*args`` with the values of a tuple that has the name, and of a list that nothing else is done with."""
        if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Name):
            value = self.values.get(argument.value.id)
            if isinstance(value, ast.Tuple) or (isinstance(value, ast.List) and self._only_unpacked(argument.value.id)):
                return ast.Starred(value, ast.Load())
        return argument

    def _written_keyword(self, keyword: ast.keyword) -> ast.keyword:
        if keyword.arg is None and isinstance(keyword.value, ast.Name):
            value = self.values.get(keyword.value.id)
            if isinstance(value, ast.Dict | ast.Call) and self._only_unpacked(keyword.value.id):
                return ast.keyword(None, value)
        return keyword

    def _only_unpacked(self, name: str) -> bool:
        unpacked = 0
        for node in ast.walk(self.root):
            if isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None):
                unpacked += isinstance(node.value, ast.Name) and node.value.id == name
        loads = (node for node in ast.walk(self.root) if isinstance(node, ast.Name) and node.id == name)
        return sum(isinstance(node.ctx, ast.Load) for node in loads) == unpacked


def _assigned_once(root: ast.Module) -> Mapping[str, ast.expr]:
    """Names that one plain assignment gives a value, and nothing else one."""
    stored: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            stored[node.arg] = stored.get(node.arg, 0) + 1
        elif isinstance(node, ast.Global | ast.Nonlocal):
            stored.update(dict.fromkeys(node.names, 2))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    return {name: value for name, value in values.items() if stored[name] == 1}
