"""A generated model hard-wires a kernel, so that the config field that selects one has no effect on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slots import slot_source
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_TOO_GENERAL = frozenset({"pos", "emb", "mlp", "loss", "op", "fused"})
"""Words in names of ops that say nothing about what is computed, or that kernels leave out."""
_ANOTHER_OP = ("gated", "vision")
"""Words that make another op of one."""


class _Kernel(NamedTuple):
    """A kernel that a generated file names: as ``bound`` there, or as the dotted name ``used``."""

    dotted: str
    bound: str
    span: Span
    scope: int


class _Construct:
    """A class or function at module level with its lines; for a class that is imported, its name only."""

    def __init__(self, name: str, lines: list[str], first: int, last: int) -> None:
        self.name, self.lines, self.first, self.last = name, lines, first, last

    @cached_property
    def text(self) -> str:
        """The lines without their comments."""
        return "\n".join(line.partition("#")[0] for line in self.lines)

    @cached_property
    def written(self) -> str:
        """The lines with their comments."""
        return "\n".join(self.lines)

    def uses(self, name: str) -> bool:
        """Whether the text uses a name; most lines need not be looked at for that."""
        if name not in self.written:
            return False
        word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
        return any(name in line and word.search(line.partition("#")[0]) is not None for line in self.lines)


def check(model: OpsModel) -> Iterator[Finding]:
    ops = _selectable(model)
    if not ops:
        return
    for module, facts in model.modules_in(model.models_package):
        if facts.problem is None and slot_source(facts.path, model.dialect) == "generated":
            yield from _in_module(model, module, facts, ops)


def _selectable(model: OpsModel) -> dict[str, tuple[str, ...]]:
    """The ops for which a field of the config selects a registered kernel, with words that tell its kernels."""
    config = model.ops_config
    found: dict[str, tuple[str, ...]] = {}
    for spec in model.registrations.kernel_specs:
        if config is not None and config.field(_field(model, spec.op_name)) is not None:
            words = tuple(word for word in spec.op_name.split("_") if word not in _TOO_GENERAL)
            if words:
                found[spec.op_name] = words
    return found


def _in_module(model: OpsModel, module: str, facts: FileFacts, ops: dict[str, tuple[str, ...]]) -> Iterator[Finding]:
    kernels = tuple(_kernels(model, module, facts))
    constructs = tuple(_constructs(facts)) if kernels else ()
    patched = _patched_later(model, module) if kernels else frozenset()
    plan = model.patch_plans.get(module)
    replaced = {code.target for code in plan.code if code.external} if plan is not None else set()
    said: set[tuple[str, str]] = set()
    for kernel in kernels:
        for construct in _users(kernel, constructs, replaced):
            op = _op_of(kernel, construct, ops)
            if not op or (kernel.dotted, op) in said or construct.name in patched:
                continue
            if _may_be_patched_unread(model, module, construct.name):
                continue
            if _is_governed(model, facts, construct, op) or _is_chosen(model, facts, construct, constructs, op):
                continue
            said.add((kernel.dotted, op))
            yield _finding(model, module, facts, kernel, construct, op)


def _packages(model: OpsModel) -> tuple[str, ...]:
    return tuple({*model.dialect.optional_packages, *(one for one in model.dialect.npu_packages if "." not in one)})


def _kernels(model: OpsModel, module: str, facts: FileFacts) -> Iterator[_Kernel]:
    packages = frozenset(_packages(model))
    for imported in facts.imports:
        source = model.symbols.absolute(module, imported)
        external = source.partition(".")[0] in packages
        if not external and not _is_kernel_file(model, source):
            continue
        for name in imported.names:
            inner = imported.module == name.name
            if inner and external:
                yield from _attributes(facts, name.bound, source)
            elif name.name != "*":
                yield _Kernel(f"{source}.{name.name}", name.bound, name.span, imported.scope)
        if imported.how == "import":
            yield from _attributes(facts, imported.bound, imported.bound)


def _attributes(facts: FileFacts, bound: str, source: str) -> Iterator[_Kernel]:
    """Kernels that are used as attributes of an imported module."""
    for ref in facts.refs:
        root, _, rest = ref.name.partition(".")
        if root == bound and rest and ref.call and ref.scope:
            yield _Kernel(f"{source}.{rest}", "", ref.span, ref.scope)


def _is_kernel_file(model: OpsModel, source: str) -> bool:
    """Whether a module of the project implements kernels of one kind, and dispatches to none."""
    if not source.startswith(f"{model.ops_package}.") or source not in model.symbols.modules:
        return False
    return source not in model.symbols.packages and model.dialect.eager not in source.rpartition(".")[2].split("_")


def _constructs(facts: FileFacts) -> Iterator[_Construct]:
    lines = facts.lines
    for node in facts.tree.body if facts.tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            last = node.end_lineno or node.lineno
            yield _Construct(node.name, lines[node.lineno - 1 : last], node.lineno, last)


def _users(kernel: _Kernel, constructs: tuple[_Construct, ...], replaced: set[str]) -> Iterator[_Construct]:
    """The classes and functions that use a kernel; a class in whose place it is imported is one."""
    if kernel.scope:
        line = kernel.span[0]
        yield from (one for one in constructs if one.first <= line <= one.last)
    elif kernel.bound in replaced:
        yield _Construct(kernel.bound, [], kernel.span[0], kernel.span[2])
    else:
        yield from (one for one in constructs if one.uses(kernel.bound))


def _op_of(kernel: _Kernel, construct: _Construct, ops: dict[str, tuple[str, ...]]) -> str:
    """The op whose words are in the names of the kernel and of its user; the most words win.

    A user whose own name is that of an op uses kernels of other ops for parts of it, which no field selects.
    """
    own = _condensed(kernel.dotted)
    users = _condensed(construct.name)
    both = f"{own} {users}"
    for_one = {op for op, words in ops.items() if all(word in users for word in words)}
    fitting = [
        (len(words), op)
        for op, words in ops.items()
        if all(word in both for word in words)
        and any(word in own for word in words)
        and not any(word in both and word not in words for word in _ANOTHER_OP)
        and (op in for_one or not for_one)
    ]
    return max(fitting)[1] if fitting else ""


def _condensed(name: str) -> str:
    return name.replace("_", "").lower()


def _is_governed(model: OpsModel, facts: FileFacts, construct: _Construct, op: str) -> bool:
    """Whether the user of the kernel looks at a slot of the op, or at the config."""
    if model.dialect.implementation_suffix in construct.text:
        return True
    names = _slot_names(model, facts, op)
    names.update(name for slot in model.config_slots if slot.namespace is facts for name in slot.names)
    return any(re.search(rf"\b{re.escape(name)}\b", construct.text) is not None for name in names)


def _is_chosen(
    model: OpsModel, facts: FileFacts, construct: _Construct, constructs: tuple[_Construct, ...], op: str
) -> bool:
    """Whether what makes or calls the user of the kernel asks a slot of the op, which may put another in its place."""
    names = _slot_names(model, facts, op)
    return bool(names) and any(
        other.name != construct.name and other.uses(construct.name) and any(other.uses(name) for name in names)
        for other in constructs
    )


def _slot_names(model: OpsModel, facts: FileFacts, op: str) -> set[str]:
    return {
        name for slot in model.slots if slot.namespace is facts and slot.op_name in (op, None) for name in slot.names
    }


def _field(model: OpsModel, op: str) -> str:
    return model.dialect.config_field_of.get(op, op + model.dialect.implementation_suffix)


def _patched_later(model: OpsModel, module: str) -> frozenset[str]:
    """What the device patch of the model replaces after the file is loaded, as the config says."""
    folder = module.rpartition(f".{model.dialect.generated_folder}.")[0]
    return frozenset(
        target.attribute
        for patches in model.per_model_patches
        if patches.module.startswith(f"{folder}.")
        for target in patches.targets
    )


def _may_be_patched_unread(model: OpsModel, module: str, name: str) -> bool:
    """Whether a file of the model that cannot be parsed names it: its device patch may replace it."""
    folder = module.rpartition(f".{model.dialect.generated_folder}.")[0]
    return any(facts.problem is not None and name in facts.text for _, facts in model.modules_in(folder))


def _finding(
    model: OpsModel, module: str, facts: FileFacts, kernel: _Kernel, construct: _Construct, op: str
) -> Finding:
    plan = model.patch_plans.get(module)
    place = model.place(facts.path, kernel.span)
    related = []
    for code in plan.code if plan is not None else ():
        if code.target.partition(".")[0] == construct.name and code.external == kernel.dotted:
            # The import is all that the generated file has of it; the config says it.
            related.append(Related(place, "the generated file"))
            place = model.place(*code.origin)
        elif code.target.partition(".")[0] == construct.name and code.definition is not None:
            at = model.place(code.definition.path, span_of(code.definition.node))
            related.append(Related(at, "a patch of it"))
    slot = next((one for one in model.slots if one.op_name == op and one.source == "generated"), None)
    if slot is not None:
        related.append(Related(slot.place, "another model declares a slot for the op"))
    field = _field(model, op)
    return rule.finding(
        place,
        f"`{construct.name}` always runs `{kernel.dotted}`: no slot governs it, so `{field}` has no effect here, not "
        f"even `{model.dialect.eager}`; call an {model.dialect.op_slot} of `{op}` and keep the eager code beside it",
        related,
    )
