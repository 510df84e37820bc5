"""Every slot of the models package with what the defaults give it on the kind of device that its file is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.model.binding import (
    Device,
    FieldValue,
    Resolution,
    config_field_name,
    field_values,
    implementation_name,
    resolve,
)
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.slots import OpSlotInfo

GPU, NPU = Device("gpu"), Device("npu")


class BoundSlot(NamedTuple):
    """A slot whose op and variant are known, and what it gets. ``resolution`` is None where its value is not known."""

    slot: OpSlotInfo
    op_name: str
    variant: str
    device: Device
    given: FieldValue
    requested: str
    resolution: Resolution | None


def slots_with_defaults(model: OpsModel) -> Iterator[BoundSlot]:
    """The live slots of generated and hand-written model files and of patch configs, in the order of the model.

    A file counts as one for the NPU by its name; every other one is loaded on GPUs.
    """
    values = {device: field_values(model, device, {}) for device in (GPU, NPU)}
    inside = f"{model.models_package}."
    known: dict[tuple[Device, str, str], Resolution] = {}
    for slot in model.slots:
        op_name, variant = slot.op_name, slot.variant
        if op_name is None or variant is None or not slot.live or not slot.module.startswith(inside):
            continue
        device = NPU if "npu" in slot.module.rpartition(".")[2].split("_") else GPU
        given = values[device].get(config_field_name(model, op_name))
        if given is None:
            continue
        if given.value is None:
            yield BoundSlot(slot, op_name, variant, device, given, "", None)
            continue
        requested = implementation_name(model, op_name, given.value)
        key = (device, op_name, variant)
        if key not in known:
            known[key] = resolve(model, op_name, variant, requested, device)
        yield BoundSlot(slot, op_name, variant, device, given, requested, known[key])
