"""What ``_bind_veomni_ops`` would do for each model: one pure function from the model of the project to a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from veomni_opslint.bind.patches import PatchBinding, patch_bindings
from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import (
    Device,
    FieldValue,
    Origin,
    Stage,
    Written,
    config_field_name,
    field_values,
    implementation_name,
    resolve,
)
from veomni_opslint.model.model_files import ModelFile, loaded_on, model_files
from veomni_opslint.model.per_model_patches import PerModelPatches
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.registrations import KernelSpec

Status: TypeAlias = Literal["bound", "eager", "error", "unknown"]


@dataclass(frozen=True, slots=True)
class SlotBinding:
    """What one slot gets. ``requested`` is the implementation as the registry knows it, None where it is not known."""

    slot: OpSlotInfo
    field: str
    requested: str | None
    origin: Origin
    given: FieldValue | None
    status: Status
    spec: KernelSpec | None = None
    stage: Stage | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelBinding:
    """The slots of one model file, in order of their names, as the program binds them."""

    file: ModelFile
    slots: tuple[SlotBinding, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """The whole answer.

    ``patches`` are the ops that device patches apply to models. ``rejected`` are fields whose value the config class
    rejects, whatever the model. ``named`` is the model that the file ``config`` says it trains; empty where it says
    none, or where one was asked for.
    """

    device: Device
    config: str | None
    models: tuple[ModelBinding, ...]
    patches: tuple[PatchBinding, ...]
    rejected: tuple[FieldValue, ...]
    named: str = ""

    @property
    def failed(self) -> bool:
        """Whether building some model would fail."""
        slots = any(slot.status == "error" for model in self.models for slot in model.slots)
        return slots or bool(self.rejected) or any(patch.status == "error" for patch in self.patches)


def bind(
    model: OpsModel,
    device: Device,
    written: Mapping[str, Written],
    config: str | None,
    name: str | None,
    named: str = "",
) -> Binding:
    """Bind the slots of every model, or of the one called *name*, with what the file *config* gives as *written*.

    *named* is the model that the file names.

    Raises:
        RunError: the project has nothing to bind, or no model of that name.
    """
    if model.ops_config is None or not model.ops_config.fields:
        wanted = model.dialect.ops_config
        raise RunError(f"{model.package} has no {wanted} with fields, so nothing selects the kernels of its slots")
    files, patches = model_files(model), model.per_model_patches
    if not files and not patches:
        raise RunError(f"no model of {model.package} has an {model.dialect.op_slot}, so there is nothing to bind")
    if name is not None:
        called = tuple(file for file in files if name in (file.name, file.module, file.module.rpartition(".")[2]))
        patches = tuple(one for one in patches if name == one.model or any(_same_model(one, file) for file in called))
        if not called and not patches:
            known = {*(file.name for file in files), *(one.model for one in model.per_model_patches)}
            raise RunError(_no_model(name, known))
        files = called
    chosen = loaded_on(files, device)
    values = field_values(model, device, written)
    applied = tuple(one for each in patches for one in patch_bindings(model, each, values, device))
    if not chosen and not applied:
        raise RunError(f"no model file with a slot is loaded on {device}" + (f" for --model {name}" if name else ""))
    return Binding(
        device=device,
        config=config,
        models=tuple(ModelBinding(file, tuple(_slots(model, file, values, device))) for file in chosen),
        patches=applied,
        rejected=tuple(value for value in values.values() if value.error),
        named=named if name is None else "",
    )


def _same_model(patches: PerModelPatches, file: ModelFile) -> bool:
    package = patches.module.rpartition(".")[0]
    return file.folder == package or file.folder.startswith(f"{package}.")


def _no_model(name: str, names: set[str]) -> str:
    listed = ", ".join(sorted(names))
    return f"--model {name}: no model with slots is called that; there are {listed}{did_you_mean(name, sorted(names))}"


def _slots(model: OpsModel, file: ModelFile, values: Mapping[str, FieldValue], device: Device) -> Iterator[SlotBinding]:
    for slot in sorted(file.slots, key=lambda slot: slot.var):
        if slot.op_name is None or slot.variant is None:
            reason = "the op or the variant of the slot is not known without running the code"
            yield SlotBinding(slot, "", None, "default", None, "unknown", reason=reason)
            continue
        field = config_field_name(model, slot.op_name)
        given = values.get(field)
        if given is None:
            reason = f"there is no field `{field}`, so the slot stays {model.dialect.eager} whatever is configured"
            yield SlotBinding(slot, field, model.dialect.eager, "no_field", None, "eager", reason=reason)
            continue
        if given.value is None:
            reason = f"the value of `{field}` is not known without running the code"
            yield SlotBinding(slot, field, None, given.origin, given, "unknown", reason=reason)
            continue
        requested = implementation_name(model, slot.op_name, given.value)
        if given.error:
            yield SlotBinding(slot, field, requested, given.origin, given, "error", None, "config", given.error)
            continue
        result = resolve(model, slot.op_name, slot.variant, requested, device)
        yield SlotBinding(
            slot, field, requested, given.origin, given, result.status, result.spec, result.stage, result.reason
        )
