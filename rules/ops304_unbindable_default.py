"""The default of an op, or what an NPU falls back to, has no kernel for a slot on the hardware that it is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_places import argument_place
from veomni_opslint.model.binding import FieldValue, config_field_name, config_value, field_values, needs, runs_on
from veomni_opslint.model.bound_slots import GPU, NPU, BoundSlot, slots_with_defaults
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.registrations import Hardware, KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_SHOWN = 4


def check(model: OpsModel) -> Iterator[Finding]:
    if model.ops_config is None or not model.registrations.kernel_specs:
        return
    rejected = {value.field: value for value in _rejected(model)}
    for value in rejected.values():
        yield _rejection(model, value)
    groups: dict[tuple[str, str, str], list[BoundSlot]] = {}
    for one in slots_with_defaults(model):
        if one.given.field not in rejected and _counts(model, one):
            groups.setdefault((one.device.kind, one.op_name, one.variant), []).append(one)
    without_fallback: dict[str, list[BoundSlot]] = {}
    at_one_place: dict[tuple[Place, str], list[BoundSlot]] = {}
    for group in groups.values():
        one = group[0]
        if one.resolution is None or one.resolution.status != "error" or not _pair(model, one):
            continue
        place = _edited(model, one)
        if one.device == NPU and one.given.origin == "default":
            if _runs_somehow(model, one):
                without_fallback.setdefault(one.given.field, []).extend(group)
            else:
                at_one_place.setdefault((_without_kernel(model, one), one.given.field), []).extend(group)
        elif place is not None:
            at_one_place.setdefault((place, one.given.field), []).extend(group)
        else:
            yield from _at_slots(model, group)
    for (place, _), slots in at_one_place.items():
        yield _unbindable(model, slots, place)
    for slots in without_fallback.values():
        yield _without_fallback(model, slots)


def _counts(model: OpsModel, one: BoundSlot) -> bool:
    """Without any table of fallbacks, a tree leaves it to the user to select what an NPU has."""
    tables = model.npu_tables
    return one.device != NPU or (tables is not None and tables.fallback is not None)


def _rejected(model: OpsModel) -> Iterator[FieldValue]:
    """Defaults that the config class rejects itself; a fallback that it rejects is a fault of the tables."""
    tables = model.npu_tables
    ops = {config_field_name(model, slot.op_name) for slot in model.slots if slot.op_name is not None}
    for device in (GPU, NPU):
        if device == NPU and (tables is None or tables.fallback is None):
            continue
        for value in field_values(model, device, {}).values():
            if value.error and value.origin == "default" and value.field in ops:
                yield value


def _rejection(model: OpsModel, value: FieldValue) -> Finding:
    config = model.ops_config
    field = config.field(value.field) if config is not None else None
    on_npu = "not supported on an NPU" in value.error
    where = "every job on an NPU that leaves" if on_npu else "every job on a GPU that leaves"
    fallback = model.dialect.npu_fallback
    way_out = f"give it a fallback in {fallback}" if on_npu else "choose a default that a GPU can run"
    return rule.finding(
        value.place if on_npu or field is None else field.default_place,
        f"the default `{value.value}` of `{value.field}` is rejected: {where} the field alone ends with ValueError; "
        f"{way_out}",
    )


def _pair(model: OpsModel, one: BoundSlot) -> list[KernelSpec]:
    """The kernels of the slot; where there are none at all, the slot is what is wrong."""
    return [
        spec for spec in model.registrations.kernel_specs if (spec.op_name, spec.variant) == (one.op_name, one.variant)
    ]


def _runs_somehow(model: OpsModel, one: BoundSlot) -> bool:
    return any(runs_on(spec, one.device) is not False for spec in _pair(model, one))


def _without_fallback(model: OpsModel, slots: Sequence[BoundSlot]) -> Finding:
    given = slots[0].given
    pairs = ", ".join(sorted({f"{one.op_name}/{one.variant}" for one in slots}))
    runnable = [spec for one in slots for spec in _pair(model, one) if runs_on(spec, NPU)]
    names = {config_value(model, spec.op_name, spec.name) for spec in runnable}
    kernels = " or ".join(f"`{name}`" for name in sorted(names))
    return rule.finding(
        given.place,
        f"the default `{given.value}` of `{given.field}` has no kernel for {pairs} on an NPU, where it stays as it is: "
        f"models with such a slot cannot be built there unless the user selects {kernels or 'another one'}; "
        f"add the field to {model.dialect.npu_fallback}",
        _slots(slots),
    )


def _without_kernel(model: OpsModel, one: BoundSlot) -> Place:
    """Where an op without a kernel for the NPU is mended: beside kernels for the NPU in its file, or at the default."""
    example = _npu_kernel_beside(model, one)
    return _default_place(model, one) if example is None else _hardware_place(example)


def _npu_kernel_beside(model: OpsModel, one: BoundSlot) -> KernelSpec | None:
    """A kernel for the NPU of another op, registered in the file of the kernel that is asked for."""
    named = [spec for spec in _pair(model, one) if spec.name == one.requested]
    for spec in model.registrations.kernel_specs if named else ():
        if spec.place.path == named[0].place.path and runs_on(spec, GPU) is False and runs_on(spec, NPU):
            return spec
    return None


def _default_place(model: OpsModel, one: BoundSlot) -> Place:
    config = model.ops_config
    field = config.field(one.given.field) if config is not None else None
    return field.default_place if one.given.origin == "default" and field is not None else one.given.place


def _at_slots(model: OpsModel, group: Sequence[BoundSlot]) -> Iterator[Finding]:
    way_out = f"register `{group[0].requested}` for the variant, or make another implementation the default"
    message = f"{_message(model, group)}; {way_out}"
    for one in group:
        yield rule.finding(one.slot.place, message, _others(model, group, one.slot.place))


def _unbindable(model: OpsModel, group: Sequence[BoundSlot], place: Place) -> Finding:
    related = [*_slots(group), *_others(model, group, place)]
    return rule.finding(place, f"{_message(model, group)}; {_way_out(model, group[0])}", related)


def _message(model: OpsModel, group: Sequence[BoundSlot]) -> str:
    one = group[0]
    pairs = ", ".join(dict.fromkeys(f"{each.op_name}/{each.variant}" for each in group))
    device = "an NPU" if one.device == NPU else "a GPU"
    origin = "what an NPU falls back to for" if one.given.origin == "npu_fallback" else "the default of"
    runnable = [spec for spec in _pair(model, one) if runs_on(spec, one.device)]
    names = dict.fromkeys(config_value(model, spec.op_name, spec.name) for spec in runnable)
    there = " or ".join(f"`{name}`" for name in (*names, model.dialect.eager))
    return (
        f"no kernel `{one.requested}` of {pairs} runs on {device}, and that is {origin} `{one.given.field}`: "
        f"building a model with the slot raises unless the user selects {there}"
    )


def _edited(model: OpsModel, one: BoundSlot) -> Place | None:
    """The one place that explains the fault, if it is not the slot: a kernel, the default, or the fallback."""
    named = [spec for spec in _pair(model, one) if spec.name == one.requested]
    if named and _is_name_for(model, one):
        return _hardware_place(named[0])
    misspelt = _misspelt(model, one)
    if misspelt is not None:
        return argument_place(model, misspelt.spec_place, "name", model.dialect.kernel_spec_fields)
    if not named and any(spec.name == one.requested for spec in _of_op(model, one)):
        return None
    return _default_place(model, one)


def _hardware_place(spec: KernelSpec) -> Place:
    return spec.hardware.place if isinstance(spec.hardware, Hardware) else spec.place


def _way_out(model: OpsModel, one: BoundSlot) -> str:
    misspelt = _misspelt(model, one)
    if misspelt is not None:
        return f"did you mean `{one.requested}` where `{misspelt.name}` is registered?"
    named = [spec for spec in _pair(model, one) if spec.name == one.requested]
    if one.device == NPU and one.given.origin == "default":
        example = _npu_kernel_beside(model, one)
        beside = "" if example is None else f" beside this one of {example.op_name}/{example.variant}"
        return f"register a kernel for the NPU{beside}, or add the field to {model.dialect.npu_fallback}"
    if named:
        return f"`{one.requested}` is registered for {needs(named[0])}"
    near = nearest(one.requested, [spec.name for spec in _of_op(model, one)])
    return f"did you mean `{near}`?" if near else "name an implementation that is registered"


def _of_op(model: OpsModel, one: BoundSlot) -> list[KernelSpec]:
    return [spec for spec in model.registrations.kernel_specs if spec.op_name == one.op_name]


def _is_name_for(model: OpsModel, one: BoundSlot) -> bool:
    """Whether an implementation of that name, of any op, runs on the device: then one that does not is the odd one."""
    specs = model.registrations.kernel_specs
    return any(spec.name == one.requested and runs_on(spec, one.device) for spec in specs)


def _misspelt(model: OpsModel, one: BoundSlot) -> KernelSpec | None:
    """A kernel of the slot with nearly the name that is asked for, where only the latter is used elsewhere."""
    elsewhere = {
        spec.name
        for spec in model.registrations.kernel_specs
        if (spec.op_name, spec.variant) != (one.op_name, one.variant)
    }
    if one.requested not in elsewhere:
        return None
    candidates = {
        spec.name: spec
        for spec in _pair(model, one)
        if spec.name not in elsewhere and runs_on(spec, one.device) is not False
    }
    return candidates.get(nearest(one.requested, candidates))


def _slots(slots: Iterable[BoundSlot]) -> Iterator[Related]:
    generated = [one for one in slots if one.slot.source != "patch_gen_config"]
    for one in (generated or list(slots))[:_SHOWN]:
        yield Related(one.slot.place, f"the slot `{one.slot.var}`")


def _others(model: OpsModel, group: Sequence[BoundSlot], place: Place) -> Iterator[Related]:
    given = group[0].given
    if given.place != place:
        yield Related(given.place, f"`{given.field}` is `{given.value}` because of this")
    for spec in _pair(model, group[0]):
        if spec.place != place:
            yield Related(spec.place, f"`{spec.name}` is registered for {spec.op_name}/{spec.variant}")
