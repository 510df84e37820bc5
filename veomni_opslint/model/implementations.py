"""What stands behind a name that is bound when the model is built: the kernels of a slot, the targets of a pointer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.findings import Place
from veomni_opslint.model.callable_values import CallableValues, Possible, values_of
from veomni_opslint.model.factories import definition, function_node
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.return_shapes import own_nodes
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.registrations import Factory, Hardware, KernelSpec, Unknown


class Implementation(NamedTuple):
    """One thing that a call may reach: its name in messages, where it is chosen, and what it is."""

    label: str
    place: Place | None
    possible: Possible


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Implementations:
    """The implementations of slots and pointers, each looked up once."""

    model: OpsModel
    values: CallableValues
    _kernels: dict[int, Possible] = field(default_factory=dict, repr=False)
    _specs: dict[tuple[str | None, str | None], list[KernelSpec]] = field(default_factory=dict, repr=False)
    _of_slots: dict[tuple[str, str | None, str | None], list[Implementation]] = field(default_factory=dict, repr=False)

    def of_slot(self, slot: OpSlotInfo) -> list[Implementation]:
        """The kernels that the registry knows for a slot, on the devices that load its file."""
        key = (slot.module, slot.op_name, slot.variant)
        if key not in self._of_slots:
            self._of_slots[key] = list(self._find_kernels(slot))
        return self._of_slots[key]

    def _find_kernels(self, slot: OpSlotInfo) -> Iterator[Implementation]:
        if not self._specs:
            for spec in self.model.registrations.kernel_specs:
                self._specs.setdefault((spec.op_name, spec.variant), []).append(spec)
        for spec in self._specs.get((slot.op_name, slot.variant), ()):
            if _may_load(slot.module, spec):
                label = f"kernel `{spec.name}` of {spec.op_name}/{spec.variant}"
                yield Implementation(label, spec.place, self.kernel(spec))

    def kernel(self, spec: KernelSpec) -> Possible:
        """What the factory of a spec returns."""
        key = id(spec)
        if key not in self._kernels:
            factory = spec.factory
            self._kernels[key] = [None] if isinstance(factory, Unknown) else self._made_by(factory)
        return self._kernels[key]

    def _made_by(self, factory: Factory) -> Possible:
        found = definition(self.model, factory)
        if found is None or factory.closure or factory.kind not in ("function", "lambda", "partial"):
            return [None]
        if found.scope.kind == "lambda":
            node = function_node(found)
            if not isinstance(node, ast.Lambda):
                return [None]
            return self.values.of(found.module, found.facts, found.scope.index, node.body)
        return self.values.returned_by(found.module, found.scope)

    def of_pointer(self, pointer: Pointer) -> Iterator[Implementation]:
        """What the apply functions of a pointer, and the backends of its op, bind it to."""
        facts = self.model.module(pointer.module)
        for apply in pointer.apply:
            scope = next((one for one in facts.scopes if one.qualname == apply.name and one.kind == "function"), None)
            if scope is None:
                continue
            deep = self.model.deep(pointer.module) if scope.deferred else facts
            for value in values_of(own_nodes(statements_of(facts, scope)), pointer.name):
                possible = self.values.of(pointer.module, deep, scope.index, value) if value is not None else [None]
                for one in possible:
                    if one is not None:
                        yield Implementation(f"`{one.name}`, to which `{apply.name}` binds it,", apply.place, [one])
        for spec in self.model.registrations.op_specs:
            if spec.name == pointer.op and not isinstance(spec.backends, Unknown):
                for name, backend in spec.backends:
                    if not isinstance(backend.entry, Unknown):
                        entry = self._entry(backend.entry, backend.entry_is_factory is not False)
                        yield Implementation(f"backend `{name}` of {spec.name}", backend.place, entry)

    def of_loss_function(self) -> Iterator[Implementation]:
        """The losses that the ops package puts into the mapping from which a model takes its own."""
        mapping = f"{self.model.dialect.loss_mapping}["
        found: Possible = []
        for module, facts in self.model.modules_in(self.model.ops_package):
            if mapping not in facts.text:
                continue
            for scope in facts.scopes:
                if scope.kind == "function":
                    found += self._losses(module, facts, scope)
        if found:
            yield Implementation(f"a loss of `{self.model.dialect.loss_mapping}`", None, found)

    def _losses(self, module: str, facts: FileFacts, scope: Scope) -> Possible:
        lines = facts.lines[scope.span[0] - 1 : scope.span[2]]
        if not any(f"{self.model.dialect.loss_mapping}[" in line for line in lines):
            return []
        deep = self.model.deep(module) if scope.deferred else facts
        return [
            one
            for node in own_nodes(statements_of(facts, scope))
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Subscript) and dotted(target.value).endswith(self.model.dialect.loss_mapping)
            for one in self.values.of(module, deep, scope.index, node.value)
        ]

    def _entry(self, entry: str, is_factory: bool) -> Possible:
        module, _, name = entry.partition(":")
        if module not in self.model.symbols.modules or "." in name:
            return [None]
        found: Possible = []
        for target in self.model.symbols.attribute(module, name):
            if not is_factory:
                found.append(self.values.callables.of(target))
            elif target.kind == "scope" and not target.rest:
                facts = self.values.callables.facts(target.module, target.scope)
                found += self.values.returned_by(target.module, facts.scopes[target.scope])
            else:
                found.append(None)
        return found or [None]


def _may_load(module: str, spec: KernelSpec) -> bool:
    """Whether a file with a device in its name is loaded where the kernel runs."""
    hardware = spec.hardware
    if not isinstance(hardware, Hardware) or isinstance(hardware.device_type, Unknown):
        return True
    types = (hardware.device_type,) if isinstance(hardware.device_type, str) else hardware.device_type
    words = module.rpartition(".")[2].split("_")
    if "any" in types:
        return True
    if "npu" in words:
        return "npu" in types
    return "gpu" not in words or set(types) != {"npu"}
