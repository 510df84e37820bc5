"""Uses of CUDA by name in code that is to run on any accelerator."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, Span
from veomni_opslint.model.device_lines import (
    NAMESPACE,
    aliases_of,
    full_name,
    lines_of_aliases,
    lines_of_words,
)
from veomni_opslint.model.device_literals import chosen_by_hand, is_backend_text, is_device_text, names_device
from veomni_opslint.model.device_questions import is_asked_well
from veomni_opslint.model.device_types import is_annotation, is_chosen_type, is_entry_for_cuda
from veomni_opslint.model.functions_on_npu import FunctionsOnNpu
from veomni_opslint.model.gpu_files import GpuFiles
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.sites import Path, outer_functions, sites_in, tree_of

_COUNTS = frozenset({"is_available", "device_count"})
_QUESTIONS = _COUNTS | {"get_device_capability", "get_device_properties", "is_bf16_supported", "get_device_name"}
_HARMLESS = frozenset({"is_initialized", "_initialized", "_is_in_bad_fork", "_lazy_init"})

Kind = Literal["namespace", "question", "method", "device", "backend", "choice"]


class DeviceUse(NamedTuple):
    """One use: ``torch.cuda.…`` as written, ``.cuda()``, or a string; ``caller`` leads to it unguarded."""

    module: str
    span: Span
    kind: Kind
    written: str
    caller: tuple[str, Span] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeviceUses:
    """Finds the uses that a host with an NPU comes by. ``defaults`` are settings whose default may be CUDA."""

    model: OpsModel
    defaults: tuple[str, ...]
    gpu_files: GpuFiles
    _functions: dict[str, list[Scope]] = field(default_factory=dict, repr=False)

    def of(self, module: str, facts: FileFacts) -> Iterator[DeviceUse]:
        """Those of one module, one for a line, in order."""
        found: dict[int, DeviceUse] = {}
        places = list(self._worth_a_look(module, facts))
        if places and not self._is_exempt(module, facts):
            for function, lines in places:
                for use in self._in_function(module, facts, function, lines):
                    known = found.get(use.span[0])
                    if known is None or use.span < known.span:
                        found[use.span[0]] = use
        for block in facts.embedded:
            for use in self._in_block(module, block.facts) if block.facts is not None else ():
                found.setdefault(use.span[0], use)
        if found and module not in self.gpu_files:
            yield from (found[line] for line in sorted(found))

    def _is_exempt(self, module: str, facts: FileFacts) -> bool:
        """Whether a file is for CUDA by its name, defines the helpers, or puts its own in the place of CUDA."""
        if "cuda" in re.split(r"[._]", module):
            return True
        dialect = self.model.dialect
        named = {dialect.device_helpers.get(purpose, "") for purpose in ("type", "module", "backend")}
        helpers = {*named, *dialect.cuda_guards, *dialect.npu_guards}
        if any(
            one.scope == 0 and one.name in helpers and (one.kind == "scope" or not one.name.startswith("_"))
            for one in facts.bindings
            if one.kind in ("scope", "assign")
        ):
            return True
        return f"setattr({NAMESPACE}" in facts.text or f'patch("{NAMESPACE}' in facts.text

    def _worth_a_look(self, module: str, facts: FileFacts) -> Iterator[tuple[Scope | None, list[int]]]:
        """The functions, and None for the code outside them, that speak of CUDA outside a comment, and the lines."""
        found = {*lines_of_words(facts.text, tuple(f"{name}: " for name in self.defaults)), *lines_of_aliases(facts)}
        lines = sorted(found)
        if not lines:
            return
        functions = self._functions.setdefault(module, outer_functions(facts))
        starts = [function.span[0] for function in functions]
        seen: dict[int, list[int]] = {}
        for line in lines:
            position = bisect_right(starts, line) - 1
            inside = position >= 0 and line <= functions[position].span[2]
            seen.setdefault(position if inside else -1, []).append(line)
        for position, inner in sorted(seen.items()):
            yield functions[position] if position >= 0 else None, inner

    def _in_function(
        self, module: str, facts: FileFacts, function: Scope | None, lines: list[int]
    ) -> Iterator[DeviceUse]:
        root = tree_of(facts, function) if function is not None else facts.tree
        if root is None:
            return
        aliases = aliases_of(facts)
        index = function.index if function is not None else 0
        # A function that asserts it wants CUDA tensors is not behind a guard, it is one of those that NPU hosts lack.
        guards = self.model.without_npu.on_npu("is_cuda" not in facts.text or not _asserts_cuda(root))
        functions = FunctionsOnNpu(self.model, guards, self.gpu_files)
        for questions in (False, True):

            def pick(node: ast.expr, path: Path, questions: bool = questions) -> bool:
                if not self._kind(module, index, node, path, aliases) or _is_to_fail(path):
                    return False
                return (getattr(node, "attr", "") in _QUESTIONS) is questions

            for site in sites_in(root, self.model.dialect, pick, function is not None, lines):
                kind = self._kind(module, index, site.node, site.path, aliases)
                if not kind or (kind != "choice" and not guards.possible(module, index, site.when)):
                    continue
                if kind == "namespace" and self._has_counterpart(facts, function, site.node):
                    continue
                caller = None
                if function is not None and kind != "choice":
                    reached, caller = functions.reached(module, facts, function)
                    if not reached:
                        continue
                yield DeviceUse(module, _span(site.node, kind), kind, _written(site.node, kind), caller)

    def _in_block(self, module: str, block: FileFacts) -> Iterator[DeviceUse]:
        guards = self.model.without_npu.on_npu()
        for ref in block.refs:
            used = ref.name.startswith(f"{NAMESPACE}.") and _is_use(ref.name, ref.call)
            if used and guards.possible(module, 0, ref.when):
                yield DeviceUse(module, ref.span, "namespace", ref.name)

    def _kind(self, module: str, scope: int, node: ast.expr, path: Path, aliases: frozenset[str]) -> Kind | Literal[""]:
        parent = path[-1] if path else None
        if isinstance(node, ast.Attribute):
            if isinstance(parent, ast.Attribute):
                return ""
            called = isinstance(parent, ast.Call) and parent.func is node
            name = full_name(dotted(node), aliases)
            if name.startswith(f"{NAMESPACE}."):
                if not (_is_use(name, called) or is_chosen_type(name, node, path)) or is_annotation(node, path):
                    return ""
                if is_entry_for_cuda(node, path, called):
                    return ""
                if name.removeprefix(f"{NAMESPACE}.") not in _COUNTS:
                    return "namespace"
                return "" if is_asked_well(path, self.model.dialect) else "question"
            return "method" if called and node.attr == "cuda" and name != NAMESPACE else ""
        if is_device_text(node) and not isinstance(parent, ast.JoinedStr):
            requirement = self.model.dialect.hardware_requirement
            if any(isinstance(one, ast.Call) and dotted(one.func).endswith(requirement) for one in path[-2:]):
                # Where a kernel runs is declared, and OPS204 says which devices there are.
                return ""
            if not names_device(node, path, self.defaults, lambda call, one: self._parameter(module, scope, call, one)):
                return ""
            if chosen_by_hand(node, path):
                return "choice"
            return "backend" if is_backend_text(node) else "device"
        return ""

    def _has_counterpart(self, facts: FileFacts, function: Scope | None, node: ast.expr) -> bool:
        """Whether the function does the same for the NPU, as ``torch.npu.manual_seed`` beside ``torch.cuda``'s."""
        if function is None or not isinstance(node, ast.Attribute):
            return False
        lines = facts.lines[function.span[0] - 1 : function.span[2]]
        return any(f"torch.npu.{node.attr}(" in line for line in lines)

    def _parameter(self, module: str, scope: int, call: ast.Call, argument: ast.expr) -> str:
        """The name of the parameter that takes a positional argument, if all functions called agree on it."""
        names: set[str] = set()
        name = dotted(call.func)
        position = next((index for index, one in enumerate(call.args) if one is argument), -1)
        for target in self.model.symbols.resolve(module, scope, name) if name else ():
            if target.kind != "scope" or target.rest:
                return ""
            facts = self.model.module(target.module)
            found = facts.scopes[target.scope]
            if found.kind == "class":
                inits = [one for one in facts.scopes if one.parent == found.index and one.name == "__init__"]
                plain = [one.name for init in inits for one in init.parameters if one.kind in ("positional", "normal")]
            else:
                plain = [one.name for one in found.parameters if one.kind in ("positional", "normal")]
            plain = plain[1:] if plain[:1] in (["self"], ["cls"]) else plain
            names.add(plain[position] if 0 <= position < len(plain) else "")
        return names.pop() if len(names) == 1 else ""


def _is_to_fail(path: Path) -> bool:
    """Whether a test expects the code to raise, and gives it CUDA for that."""
    return any(
        isinstance(outer, ast.With)
        and any(
            isinstance(item.context_expr, ast.Call)
            and dotted(item.context_expr.func).rpartition(".")[2] in ("raises", "assertRaises", "assertRaisesRegex")
            for item in outer.items
        )
        for outer in path
    )


def _asserts_cuda(root: ast.Module) -> bool:
    """Whether ``x.is_cuda`` is asserted, and not what a branch depends on."""
    asserted = False
    for node in ast.walk(root):
        if isinstance(node, ast.Assert | ast.If | ast.IfExp) and any(
            isinstance(one, ast.Attribute) and one.attr == "is_cuda" for one in ast.walk(node.test)
        ):
            if not isinstance(node, ast.Assert):
                return False
            asserted = True
    return asserted


def _is_use(name: str, called: bool) -> bool:
    """Whether it touches the device; a type or an exception exists without one."""
    last = name.rpartition(".")[2]
    if last in _HARMLESS:
        return False
    return called or not last[:1].isupper()


def _span(node: ast.expr, kind: Kind) -> Span:
    """The place of a use; of a method call, that of the name of the method."""
    span = span_of(node)
    return (span[2], span[3] - len("cuda"), span[2], span[3]) if kind == "method" else span


def _written(node: ast.expr, kind: Kind) -> str:
    if kind == "method":
        return ".cuda()"
    if isinstance(node, ast.Attribute):
        return dotted(node)
    return ast.unparse(node).replace("'", '"')
