"""A kernel is registered with a hardware requirement that cannot be met, or that does not fit the kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_places import argument_place
from veomni_opslint.model.factory_needs import FactoryNeeds, Need
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.registrations import Factory, Hardware, KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_ANY = "any"


def check(model: OpsModel) -> Iterator[Finding]:
    needs = FactoryNeeds(model)
    reported: set[tuple[Place, str]] = set()
    for spec in model.registrations.kernel_specs:
        if isinstance(spec.hardware, Hardware):
            for finding in (*_faults(model, spec, spec.hardware), *_misfits(model, needs, spec, spec.hardware)):
                key = (finding.place, finding.message.partition(":")[0])
                if key not in reported:
                    reported.add(key)
                    yield finding


def _faults(model: OpsModel, spec: KernelSpec, hardware: Hardware) -> Iterator[Finding]:
    types = _types(hardware)
    low, high = hardware.min_compute_capability, hardware.max_compute_capability
    if isinstance(low, int) and isinstance(high, int) and low > high:
        message = f"the minimum compute capability {low} is above the maximum {high}: no GPU satisfies it, so"
        yield rule.finding(
            hardware.place, f"{message} selecting `{spec.name}` always raises RuntimeError; exchange them"
        )
    unknown = [one for one in types if one not in model.dialect.device_types]
    unknown = [one for one in unknown if one not in _types_compared(model)] if unknown else []
    if unknown or (not isinstance(hardware.device_type, str) and types and not _takes_several(model)):
        yield _unknown_type(model, spec, hardware, unknown)
    elif (_for_npu(model, types) or types == (_ANY,)) and (isinstance(low, int) or isinstance(high, int)):
        message = f"a compute capability says nothing for device type `{types[0]}`: it is ignored, so `{spec.name}` is "
        yield rule.finding(hardware.place, f"{message}offered where it was meant to be refused; leave it out")


def _types(hardware: Hardware) -> tuple[str, ...]:
    """The device types; none where they are not known."""
    given = hardware.device_type
    return (given,) if isinstance(given, str) else given if isinstance(given, tuple) else ()


def _for_npu(model: OpsModel, types: tuple[str, ...]) -> bool:
    return bool(types) and all(one in model.dialect.npu_device_types for one in types)


def _unknown_type(model: OpsModel, spec: KernelSpec, hardware: Hardware, unknown: list[str]) -> Finding:
    place = _type_place(model, hardware)
    known = ", ".join(f"`{one}`" for one in model.dialect.device_types)
    if not unknown:
        return rule.finding(
            place, f"a {model.dialect.hardware_requirement} takes one device type, no list: {_raises(spec)}"
        )
    near = nearest(unknown[0], model.dialect.device_types)
    hint = f"did you mean `{near}`?" if near else f"the device types are {known}"
    return rule.finding(place, f"there is no device type `{unknown[0]}`: {_raises(spec)}; {hint}")


def _raises(spec: KernelSpec) -> str:
    return f"selecting `{spec.name}` raises ValueError on every machine"


def _misfits(model: OpsModel, needs: FactoryNeeds, spec: KernelSpec, hardware: Hardware) -> Iterator[Finding]:
    """Kernels that need another device than they are declared for; those for several devices choose for themselves."""
    types = _types(hardware)
    if len(types) != 1 or types[0] not in model.dialect.device_types or not isinstance(spec.factory, Factory):
        return
    for_npu = _for_npu(model, types)
    on_npu = needs.of(spec.factory, "npu") if not for_npu else None
    if not for_npu and (on_npu is not None or model.is_npu_name(spec.name)):
        reason = f"it imports `{on_npu.subject}`" if on_npu is not None else "its name says so"
        npu = model.dialect.npu_device_types[0] if model.dialect.npu_device_types else "npu"
        message = (
            f"the kernel `{spec.name}` is for NPUs ({reason}) but declared for device type `{types[0]}`: "
            f"{'it is refused on NPUs, and' if types != (_ANY,) else 'it is'} offered where it cannot run; "
            f"declare it `{npu}`"
        )
        yield rule.finding(_type_place(model, hardware), message, _related(spec.factory, on_npu))
        return
    on_gpu = needs.of(spec.factory, "gpu") if for_npu or types == (_ANY,) else None
    if on_gpu is not None:
        message = (
            f"the kernel `{spec.name}` imports `{on_gpu.subject}`, which is for GPUs, but is declared for device type "
            f"`{types[0]}`: selecting it elsewhere fails when the model is built; declare it `gpu`"
        )
        yield rule.finding(_type_place(model, hardware), message, _related(spec.factory, on_gpu))


def _type_place(model: OpsModel, hardware: Hardware) -> Place:
    return argument_place(model, hardware.place, "device_type", model.dialect.hardware_fields)


def _related(factory: Factory, need: Need | None) -> Iterator[Related]:
    if factory.place is not None:
        yield Related(factory.place, "the factory")
    if need is not None:
        yield Related(need.place, f"imports `{need.subject}`")


def _types_compared(model: OpsModel) -> set[str]:
    """Device types that the hardware class of this project distinguishes beyond those of the dialect."""
    found: set[str] = set()
    for facts in model.files.values():
        if f"class {model.dialect.hardware_requirement}" in facts.text and facts.problem is None:
            for node in ast.walk(ast.parse(facts.text)):
                if isinstance(node, ast.Compare | ast.MatchValue | ast.Dict | ast.Set | ast.Tuple | ast.List):
                    found.update(
                        child.value
                        for child in ast.walk(node)
                        if isinstance(child, ast.Constant) and isinstance(child.value, str)
                    )
    return found


def _takes_several(model: OpsModel) -> bool:
    texts = [
        facts.text for facts in model.files.values() if f"class {model.dialect.hardware_requirement}" in facts.text
    ]
    asked = ("isinstance(self.device_type", "in self.device_type")
    return not texts or any(word in text for text in texts for word in asked)
