"""What binding a slot gives: the value of its config field on a device, the kernel for it, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.findings import Place
from veomni_opslint.model.legacy_values import LegacyValue
from veomni_opslint.model.npu_tables import NpuTable
from veomni_opslint.model.ops_config import ConfigField
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.registered_pairs import may_be_registered, nearest
from veomni_opslint.registrations import Hardware, KernelSpec, Unknown

DeviceKind: TypeAlias = Literal["gpu", "npu", "cpu"]
Origin: TypeAlias = Literal["config", "default", "npu_fallback", "no_field"]
Stage: TypeAlias = Literal["config", "resolve", "hardware"]


class Device(NamedTuple):
    """What a job runs on; ``capability`` is the compute capability of a GPU (90 for 9.0), None for any."""

    kind: DeviceKind
    capability: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.capability}" if self.capability is not None else self.kind


class Written(NamedTuple):
    """A value that a configuration file gives for a field; None for one that is not a string."""

    value: str | None
    place: Place


class FieldValue(NamedTuple):
    """The value that a config field has when models are built; None where it cannot be known.

    ``origin`` says where it comes from and ``place`` where that is written. ``error`` is why the config class
    rejects it, empty if it does not.
    """

    field: str
    value: str | None
    origin: Origin
    place: Place
    error: str = ""


class Resolution(NamedTuple):
    """What resolving a slot gives. ``unknown``: a registration could not be read, so it may be this one."""

    status: Literal["bound", "eager", "error", "unknown"]
    spec: KernelSpec | None = None
    stage: Stage | None = None
    reason: str = ""


def config_field_name(model: OpsModel, op_name: str) -> str:
    """The config field that selects the implementation of an op."""
    known = model.dialect.config_field_of.get(op_name)
    if known is not None:
        return known
    name = op_name + model.dialect.implementation_suffix
    if model.ops_config is None or model.ops_config.field(name) is not None:
        return name
    return model.special_fields.get(op_name) or name


def implementation_name(model: OpsModel, op_name: str, value: str) -> str:
    """The name under which the registry has what the config field calls *value*."""
    return value.removeprefix(model.dialect.value_prefix_of.get(op_name, ""))


def config_value(model: OpsModel, op_name: str, implementation: str) -> str:
    """What the config field calls the implementation that the registry has as *implementation*."""
    prefix = model.dialect.value_prefix_of.get(op_name, "")
    return implementation if implementation == model.dialect.eager else prefix + implementation


def field_values(model: OpsModel, device: Device, written: Mapping[str, Written]) -> dict[str, FieldValue]:
    """The value of every config field on *device*, after what the config class does to it, by field name."""
    if model.ops_config is None:
        return {}
    return {
        field.name: _field_value(model, device, field, written.get(field.name)) for field in model.ops_config.fields
    }


def resolve(model: OpsModel, op_name: str, variant: str, implementation: str, device: Device) -> Resolution:
    """What the registry answers for an implementation of a slot."""
    if implementation == model.dialect.eager:
        return Resolution("eager")
    pair = [spec for spec in model.registrations.kernel_specs if spec.op_name == op_name and spec.variant == variant]
    named = [spec for spec in pair if spec.name == implementation]
    if not named:
        if may_be_registered(model, op_name, variant):
            return Resolution("unknown", reason="a registration that cannot be read without running it may be the one")
        names = [*dict.fromkeys(spec.name for spec in pair), model.dialect.eager]
        near = nearest(implementation, names)
        hint = f" (did you mean `{near}`?)" if near else ""
        listed = ", ".join(f"`{name}`" for name in names)
        reason = (
            f"KeyError: no kernel `{implementation}` is registered for {op_name}/{variant}{hint}; there is {listed}"
        )
        return Resolution("error", stage="resolve", reason=reason)
    verdicts = [runs_on(spec, device) for spec in named]
    for verdict in (True, None):
        if verdict in verdicts:
            spec = named[verdicts.index(verdict)]
            if verdict:
                return Resolution("bound", spec)
            return Resolution("unknown", spec, reason="the hardware that the kernel needs is not known")
    return Resolution(
        "error",
        named[0],
        "hardware",
        f"RuntimeError: kernel `{implementation}` of {op_name}/{variant} needs {needs(named[0])}, not {device}",
    )


def runs_on(spec: KernelSpec, device: Device) -> bool | None:
    """Whether the hardware requirement of a kernel holds on *device*; None where it is not known."""
    hardware = spec.hardware
    if isinstance(hardware, Unknown) or isinstance(hardware.device_type, Unknown):
        return None
    types = (hardware.device_type,) if isinstance(hardware.device_type, str) else hardware.device_type
    if "any" in types:
        return True
    if device.kind not in types:
        return False
    if device.kind != "gpu" or device.capability is None:
        return True
    low, high = hardware.min_compute_capability, hardware.max_compute_capability
    if isinstance(low, Unknown) or isinstance(high, Unknown):
        return None
    return (low is None or device.capability >= low) and (high is None or device.capability <= high)


def needs(spec: KernelSpec) -> str:
    """The hardware that a kernel needs, in words."""
    hardware = spec.hardware
    if not isinstance(hardware, Hardware) or isinstance(hardware.device_type, Unknown):
        return "hardware that is not known"
    types = (hardware.device_type,) if isinstance(hardware.device_type, str) else hardware.device_type
    text = " or ".join(types)
    low, high = hardware.min_compute_capability, hardware.max_compute_capability
    if isinstance(low, int) and low == high:
        return f"{text} with compute capability {low}"
    if isinstance(low, int):
        text += f" with compute capability {low} or higher"
    if isinstance(high, int):
        text += f" with compute capability {high} or lower"
    return text


def _field_value(model: OpsModel, device: Device, field: ConfigField, written: Written | None) -> FieldValue:
    value = written.value if written is not None else field.default
    origin: Origin = "default" if written is None else "config"
    place = field.place if written is None else written.place
    if value is None:
        return FieldValue(field.name, None, origin, place)
    for legacy in model.legacy_values:
        if (legacy.field, legacy.value) == (field.name, value):
            value = _replacement(legacy, device)
    tables = model.npu_tables
    if tables is not None and device.kind == "npu" and tables.fallback is not None and value == field.default:
        entry = tables.fallback.entry(field.name)
        if entry is not None and entry.values is None:
            return FieldValue(field.name, None, "npu_fallback", entry.place)
        if entry is not None and entry.values:
            value = entry.values[0].name
            origin, place = "npu_fallback", entry.values[0].place
    error = _rejection(model, device, field.name, value)
    return FieldValue(field.name, value, origin, place, error)


def _replacement(legacy: LegacyValue, device: Device) -> str:
    return legacy.on_npu if device.kind == "npu" else legacy.elsewhere


def _rejection(model: OpsModel, device: Device, field: str, value: str) -> str:
    tables = model.npu_tables
    if tables is None or tables.allowed is None or value == model.dialect.eager:
        return ""
    allowed = _names(tables.allowed, field)
    if allowed is None:
        return ""
    if device.kind == "npu" and value not in allowed:
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys((*allowed, model.dialect.eager)))
        return f"ValueError: {field}={value!r} is not supported on an NPU: {tables.allowed.name} has {listed}"
    required = _names(tables.required, field) if tables.required is not None else None
    if device.kind != "npu" and value in (required or ()):
        return f"ValueError: {field}={value!r} needs an NPU"
    return ""


def _names(table: NpuTable, field: str) -> tuple[str, ...] | None:
    entry = table.entry(field)
    return None if entry is None or entry.values is None else tuple(value.name for value in entry.values)
