"""Calls of slots, and of attributes that hold one, under a local name, by a partial, or with arguments under a name."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
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

_UNPACKED = re.compile(r"[(,]\s*\*{1,2}([A-Za-z_]\w*)")
_ATTRIBUTE = re.compile(r"[ \t]*(self\.\w+)(?::[^=\n]+)?$")
_LONGEST_CALL = 400
_FURTHEST = 4000
_PARTIAL = "partial"


class _Called(NamedTuple):
    """The name of a slot or attribute, and the arguments that it has before it is called."""

    name: str
    args: Sequence[ast.expr] = ()
    keywords: Sequence[ast.keyword] = ()


def indirect_calls(model: OpsModel) -> Iterator[CallSite]:
    """Those in functions, each as the call of the slot that it is."""
    kernel = model.dialect.slot_kernel
    for module, names in model.slot_names.items():
        facts = model.module(module)
        attributes = frozenset(_holding(facts.text, names))
        for function in _functions(facts, names, attributes, kernel):
            root = tree_of(facts, function)
            if root is not None:
                for call in _Function(root, names, attributes, kernel).calls(function.index):
                    yield CallSite(module, facts, call, False)


def _holding(text: str, names: Names) -> Iterator[str]:
    """The attributes to which a slot, or its kernel, is assigned."""
    for name in names:
        at = 0
        while (at := text.find(f" = {name}", at) + 1) > 0:
            found = _ATTRIBUTE.match(text, text.rfind("\n", 0, at) + 1, at - 1)
            if found is not None:
                yield found[1]


def _functions(facts: FileFacts, names: Names, attributes: Collection[str], kernel: str) -> Iterator[Scope]:
    """The functions whose text has something like such a call."""
    offsets = sorted((*_worth_a_look(facts.text, names, f".{kernel}()"), *_renamed(facts.text, attributes)))
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
                if _unpacks(text, start, end):
                    yield start
            elif named and text[end : end + 1] in ("\n", ",", ")"):
                yield start


def _renamed(text: str, attributes: Collection[str]) -> Iterator[int]:
    for attribute in attributes:
        end = 0
        while (start := text.find(attribute, end)) >= 0:
            end = start + len(attribute)
            before = text[max(start - 80, 0) : start]
            if text.startswith("\n", end) and before.endswith(" = "):
                yield start
            elif text.startswith("(", end):
                if _unpacks(text, start, end):
                    yield start
            elif text[end : end + 1] in (",", ")") and f"{_PARTIAL}(" in before:
                yield start


def _unpacks(text: str, start: int, end: int) -> bool:
    """Whether the call whose arguments begin at *end* seems to unpack what a line above gives a name."""
    given = text[end : end + _LONGEST_CALL]
    earlier = text[max(start - _FURTHEST, 0) : start]
    return "*" in given and any(f" {one} = " in earlier for one in _UNPACKED.findall(given))


class _Function:
    """One function, with the names that it gives a value once."""

    def __init__(self, root: ast.Module, names: Names, attributes: Collection[str], kernel: str) -> None:
        self.root = root
        self.names = names
        self.attributes = attributes
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
            if found is None:
                continue
            given = {one.arg for one in node.keywords}
            kept = [one for one in found.keywords if one.arg is None or one.arg not in given]
            args = [self._written(one) for one in (*found.args, *node.args)]
            keywords = [self._written_keyword(one) for one in (*kept, *node.keywords)]
            whole = ast.Call(node.func, args, keywords)
            if dotted(node.func) == found.name and args == node.args and keywords == node.keywords:
                continue
            target = self.spread.get(id(node))
            rest = target is not None and any(isinstance(one, ast.Starred) for one in target.elts)
            count = len(target.elts) - rest if target is not None else 0
            yield Call(scope, found.name, span_of(node), TRUE, *given_by(whole), count, rest, False)

    def _called(self, node: ast.expr) -> _Called | None:
        name = self._name(node)
        if name:
            return _Called(name)
        partial = self.values.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(partial, ast.Call) and partial.args and dotted(partial.func).rpartition(".")[2] == _PARTIAL:
            name = self._name(partial.args[0])
            return _Called(name, partial.args[1:], partial.keywords) if name else None
        return None

    def _name(self, node: ast.expr) -> str:
        """The slot, or the attribute with one, that an expression is; empty for anything else."""
        slot = self.slots.slot_of(node)[0]
        if slot is not None:
            return next((name for name, one in self.names.items() if one is slot), "")
        value = self.values.get(node.id) if isinstance(node, ast.Name) else node
        name = dotted(value) if value is not None else ""
        return name if name in self.attributes else ""

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
        elif isinstance(node, ast.alias | ast.ExceptHandler | ast.FunctionDef | ast.ClassDef):
            bound = (node.asname if isinstance(node, ast.alias) else "") or node.name or ""
            stored[bound] = stored.get(bound, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    return {name: value for name, value in values.items() if stored[name] == 1}
