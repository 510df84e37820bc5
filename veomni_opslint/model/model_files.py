"""The modeling files that have slots, which model each is of, and which of them a device loads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from veomni_opslint.model.binding import Device
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.slots import OpSlotInfo

_NPU = "_npu"
_SUFFIXES = ("_gpu", _NPU)


class ModelFile(NamedTuple):
    """A module whose slots are bound when the model ``name`` is built. ``folder`` and ``name`` tell models apart."""

    module: str
    path: str
    folder: str
    name: str
    for_npu: bool
    slots: tuple[OpSlotInfo, ...]


def model_files(model: OpsModel) -> tuple[ModelFile, ...]:
    """Every generated or hand-written module of the models package that has a slot, in order of module name."""
    slots: dict[str, list[OpSlotInfo]] = {}
    inside = f"{model.models_package}."
    for slot in model.slots:
        if slot.live and not slot.embedded and slot.source != "patch_gen_config" and slot.module.startswith(inside):
            slots.setdefault(slot.module, []).append(slot)
    return tuple(_model_file(model, module, found) for module, found in sorted(slots.items()))


def loaded_on(files: Iterable[ModelFile], device: Device) -> tuple[ModelFile, ...]:
    """The files that a device loads: on an NPU its own, or the common one of a model that has no file for an NPU."""
    files = tuple(files)
    with_npu = {(file.folder, file.name) for file in files if file.for_npu}
    if device.kind != "npu":
        return tuple(file for file in files if not file.for_npu)
    return tuple(file for file in files if file.for_npu or (file.folder, file.name) not in with_npu)


def _model_file(model: OpsModel, module: str, slots: list[OpSlotInfo]) -> ModelFile:
    folder, _, stem = module.rpartition(".")
    name = stem.removeprefix(model.dialect.generated_prefix)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return ModelFile(module, slots[0].path, folder, name, stem.endswith(_NPU), tuple(slots))
