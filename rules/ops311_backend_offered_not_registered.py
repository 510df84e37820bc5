"""The configuration offers an implementation that has no kernel for a slot that it would be bound to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import Device, config_field_name, implementation_name, resolve, runs_on
from veomni_opslint.model.bound_slots import GPU, NPU, BoundSlot, slots_with_defaults
from veomni_opslint.model.literal_choices import choice_place
from veomni_opslint.model.npu_tables import NpuTable
from veomni_opslint.registrations import Backend, Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_SHOWN = 4


class _Offer(NamedTuple):
    """A value that something says can be selected, and the device that it is for."""

    value: str
    field: str
    what: str
    place: Place
    device: Device


def check(model: OpsModel) -> Iterator[Finding]:
    if not model.registrations.kernel_specs:
        return
    slots: dict[str, list[BoundSlot]] = {}
    for one in slots_with_defaults(model):
        if one.slot.source != "patch_gen_config":
            slots.setdefault(one.op_name, []).append(one)
    ops: dict[str, list[str]] = {}
    for op_name in slots:
        ops.setdefault(config_field_name(model, op_name), []).append(op_name)
    reported: set[tuple[str, str, Device]] = set()
    for offer in _offers(model):
        for op_name in ops.get(offer.field, ()):
            missing = list(_missing(model, offer, slots[op_name]))
            if missing and (op_name, offer.value, offer.device) not in reported:
                reported.add((op_name, offer.value, offer.device))
                yield _finding(model, offer, op_name, missing)


def _offers(model: OpsModel) -> Iterator[_Offer]:
    eager = model.dialect.eager
    for spec in model.registrations.op_specs:
        if isinstance(spec.config_field, Unknown) or isinstance(spec.backends, Unknown):
            continue
        for name, backend in spec.backends:
            if name != eager:
                device = _device(model, spec.config_field, name, backend)
                yield _Offer(name, spec.config_field, f"a backend of the op `{spec.name}`", backend.place, device)
    legacy = {(one.field, one.value) for one in model.legacy_values}
    for field in model.ops_config.fields if model.ops_config is not None else ():
        for name in field.choices or ():
            if name != eager and (field.name, name) not in legacy:
                device = _device(model, field.name, name, None)
                place = choice_place(model.symbols.modules[field.module], model.dialect, field, name)
                yield _Offer(name, field.name, f"a choice of `{field.name}`", place, device)
    tables = model.npu_tables
    for entry in tables.allowed.entries if tables is not None and tables.allowed is not None else ():
        for value in entry.values or ():
            if value.name != eager and not _replaced(model, entry.field, value.name):
                what = f"allowed by {model.dialect.npu_allowed}"
                yield _Offer(value.name, entry.field, what, value.place, NPU)


def _device(model: OpsModel, field: str, value: str, backend: Backend | None) -> Device:
    """What is only for the NPU, by the tables, by what it requires or by its kernels; everything else is for GPUs."""
    tables = model.npu_tables
    if value in (_names(tables.required, field) if tables is not None else ()):
        return NPU
    requires = () if backend is None or isinstance(backend.requires, Unknown) else backend.requires
    if any(package in model.dialect.npu_packages for package in requires):
        return NPU
    kernels = [
        spec
        for spec in model.registrations.kernel_specs
        if config_field_name(model, spec.op_name) == field
        and spec.name == implementation_name(model, spec.op_name, value)
    ]
    return NPU if kernels and all(runs_on(spec, GPU) is False for spec in kernels) else GPU


def _names(table: NpuTable | None, field: str) -> tuple[str, ...]:
    entry = table.entry(field) if table is not None else None
    return tuple(value.name for value in (entry.values if entry is not None else None) or ())


def _replaced(model: OpsModel, field: str, value: str) -> bool:
    """Whether an NPU never keeps the value, because it is the default, which a fallback stands in for."""
    tables, config = model.npu_tables, model.ops_config
    default = config.field(field) if config is not None else None
    return (
        tables is not None
        and tables.fallback is not None
        and tables.fallback.entry(field) is not None
        and default is not None
        and default.default == value
    )


def _missing(model: OpsModel, offer: _Offer, slots: list[BoundSlot]) -> Iterator[BoundSlot]:
    """The slots that cannot get what is offered: all of them if no variant has it, else those of the device's files.

    That a slot has no kernel for the default is another rule's.
    """
    implementation = implementation_name(model, slots[0].op_name, offer.value)
    results = {
        (one.op_name, one.variant): resolve(model, one.op_name, one.variant, implementation, offer.device)
        for one in slots
    }
    registered = {spec.name for spec in model.registrations.kernel_specs if spec.op_name == slots[0].op_name}
    nowhere = implementation not in registered and all(one.requested != implementation for one in slots)
    for one in slots:
        failed = results[one.op_name, one.variant].status == "error" and not _without_kernels(model, one)
        if failed and one.requested != implementation and (nowhere or one.device == offer.device):
            yield one


def _without_kernels(model: OpsModel, one: BoundSlot) -> bool:
    """A slot without any kernel is another rule's."""
    pair = (one.op_name, one.variant)
    return not any((spec.op_name, spec.variant) == pair for spec in model.registrations.kernel_specs)


def _finding(model: OpsModel, offer: _Offer, op_name: str, missing: list[BoundSlot]) -> Finding:
    implementation = implementation_name(model, op_name, offer.value)
    variants = sorted({one.variant for one in missing})
    pairs = ", ".join(f"{op_name}/{variant}" for variant in variants)
    verb = "has" if len(variants) == 1 else "have"
    where = "an NPU" if offer.device == NPU else "a GPU"
    related = [Related(one.slot.place, f"the slot `{one.slot.var}`") for one in missing[:_SHOWN]]
    related += [
        Related(spec.place, f"`{spec.name}` is registered for {spec.op_name}/{spec.variant}")
        for spec in model.registrations.kernel_specs
        if spec.op_name == op_name and spec.variant in variants
    ]
    return rule.finding(
        offer.place,
        f"`{offer.value}` is {offer.what}, and {pairs} {verb} no kernel `{implementation}` that runs on {where}: "
        "selecting it passes the configuration and fails when a model with such a slot is built; "
        "register the kernel, or do not offer the value",
        related,
    )
