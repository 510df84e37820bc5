"""What ``apply_per_model_patches`` would do for the models that still have a device patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import Device, FieldValue
from veomni_opslint.model.per_model_patches import PatchTarget, PerModelPatches
from veomni_opslint.registrations import OpSpec, Unknown


@dataclass(frozen=True, slots=True)
class PatchBinding:
    """The backend that replaces one attribute of a model, or why there is none."""

    patches: PerModelPatches
    target: PatchTarget
    given: FieldValue | None
    status: Literal["bound", "eager", "error", "unknown"]
    backend: str = ""
    reason: str = ""


def patch_bindings(
    model: OpsModel, patches: PerModelPatches, values: Mapping[str, FieldValue], device: Device
) -> Iterator[PatchBinding]:
    """What each target of a device patch gets, in order."""
    for target in patches.targets:
        spec = next((one for one in model.registrations.op_specs if one.name == target.op_name), None)
        if spec is None:
            unread = any(item.of_op for item in model.registrations.unresolved)
            if unread:
                yield PatchBinding(patches, target, None, "unknown", reason="an op that cannot be read may be this one")
            else:
                reason = f"KeyError: the op `{target.op_name}` is not registered"
                yield PatchBinding(patches, target, None, "error", reason=reason)
            continue
        given = values.get(spec.config_field) if isinstance(spec.config_field, str) else None
        yield _applied(model, patches, target, spec, given, device)


def _applied(
    model: OpsModel,
    patches: PerModelPatches,
    target: PatchTarget,
    spec: OpSpec,
    given: FieldValue | None,
    device: Device,
) -> PatchBinding:
    if given is None or given.value is None or not patches.complete or isinstance(spec.backends, Unknown):
        reason = "the value of the field, or the backends of the op, are not known without running the code"
        return PatchBinding(patches, target, given, "unknown", reason=reason)
    value = given.value
    if given.error:
        return PatchBinding(patches, target, given, "error", value, given.error)
    requires: tuple[str, ...] | Unknown
    extra = next((one for one in patches.extra_backends if (one.op_name, one.name) == (spec.name, value)), None)
    registered = dict(spec.backends).get(value)
    if extra is not None and not extra.barred:
        requires = extra.requires if extra.requires is not None else Unknown("what it requires")
    elif extra is None and registered is not None:
        requires = registered.requires
    elif value == model.dialect.eager:
        return PatchBinding(patches, target, given, "eager", value)
    else:
        what = "is explicitly disabled for" if extra is not None else "is no registered backend of"
        reason = f"ValueError: {given.field}={value!r} {what} {patches.model}"
        return PatchBinding(patches, target, given, "error", value, reason)
    missing = [
        package for package in model.dialect.npu_packages if not isinstance(requires, Unknown) and package in requires
    ]
    if missing and device.kind != "npu":
        reason = f"RuntimeError: backend `{value}` of {spec.name} requires {missing[0]}, which {device} has not"
        return PatchBinding(patches, target, given, "error", value, reason)
    return PatchBinding(patches, target, given, "bound", value)
