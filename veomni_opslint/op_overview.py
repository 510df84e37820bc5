"""``opslint op NAME``: all that the project has and says of one op."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.findings import Finding, Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import config_field_name
from veomni_opslint.model.documentation import field_tables, value_tables
from veomni_opslint.model.model_files import model_files
from veomni_opslint.model.npu_tables import NpuTable
from veomni_opslint.model.op_tests import folder_of_op, texts_of_tests, word_pattern
from veomni_opslint.model.ops_config import ConfigField
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.registrations import KernelSpec, OpSpec


@dataclass(frozen=True, slots=True)
class UsedSlot:
    """A slot of the op in a model, or beside the models where ``model`` is empty; not those of patch configs."""

    model: str
    for_npu: bool
    slot: OpSlotInfo


@dataclass(frozen=True, slots=True)
class NpuEntry:
    """What one of the NPU tables says of the field of the op."""

    table: str
    values: tuple[str, ...] | None
    place: Place


@dataclass(frozen=True, slots=True)
class WrapperEntry:
    """What the wrappers of async Ulysses declare for the op."""

    implementations: tuple[str, ...]
    variants: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of a table, or a table of values, that is about the field of the op."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class OpOverview:
    """Everything about one op.

    ``read_directly``: nothing is registered for it, and code outside the config reads its field, a list of values.
    ``reads_everything``: tests and documents outside the package were read. ``findings`` are about the op.
    """

    name: str
    field_name: str
    folder: str
    kernels: tuple[KernelSpec, ...]
    op_specs: tuple[OpSpec, ...]
    slots: tuple[UsedSlot, ...]
    config_slots: tuple[ConfigSlotInfo, ...]
    field: ConfigField | None
    npu: tuple[NpuEntry, ...]
    wrapper: WrapperEntry | None
    tests: tuple[Place, ...]
    documents: tuple[DocumentRow, ...]
    read_directly: bool
    reads_everything: bool
    findings: tuple[Finding, ...] = ()


def overview(model: OpsModel, name: str, findings: Iterable[Finding] = ()) -> OpOverview:
    """All about the op called *name*, and the *findings* that are about it; its config field is a name of it, too.

    Raises:
        RunError: there is no such op.
    """
    op = _op_called(model, name)
    field = config_field_name(model, op)
    kernels = tuple(spec for spec in model.registrations.kernel_specs if spec.op_name == op)
    op_specs = tuple(spec for spec in model.registrations.op_specs if spec.name == op)
    modules = dict.fromkeys([*(spec.module for spec in kernels), *(spec.module for spec in op_specs)])
    folders = [folder for module in modules if (folder := folder_of_op(model, module))]
    folder = f"{model.project.package_path}/{model.dialect.ops_package}/kernels/{folders[0]}" if folders else ""
    names = {op, field, *folders[:1]}
    found = OpOverview(
        name=op,
        field_name=field,
        folder=folder,
        kernels=kernels,
        op_specs=op_specs,
        slots=tuple(_slots(model, op)),
        config_slots=tuple(
            slot
            for slot in model.config_slots
            if slot.live and not slot.embedded and slot.source != "patch_gen_config" and slot.field_name == field
        ),
        field=model.ops_config.field(field) if model.ops_config is not None else None,
        npu=tuple(_npu(model, field)),
        wrapper=_wrapper(model, op),
        tests=tuple(_tests(model, names)),
        documents=tuple(_documents(model, field)),
        read_directly=not kernels and not op_specs and _is_read(model, field),
        reads_everything=bool(model.test_modules),
    )
    return replace(found, findings=tuple(_about(found, findings)))


def op_names(model: OpsModel) -> tuple[str, ...]:
    """Every op that is registered, or that a slot or config field is there for; in alphabetical order."""
    registrations = model.registrations
    found = {spec.op_name for spec in registrations.kernel_specs} | {spec.name for spec in registrations.op_specs}
    found |= {slot.op_name for slot in model.slots if slot.op_name is not None}
    suffix = model.dialect.implementation_suffix
    taken = {config_field_name(model, name) for name in found}
    for field in model.ops_config.fields if model.ops_config is not None else ():
        if field.name.endswith(suffix) and field.name not in taken:
            found.add(field.name.removesuffix(suffix))
    return tuple(sorted(found))


def _op_called(model: OpsModel, name: str) -> str:
    known = op_names(model)
    if not known:
        raise RunError(f"no op `{name}`: {model.package} registers no kernel, and has no slot and no config for one")
    if name in known:
        return name
    by_field = {config_field_name(model, op): op for op in known}
    found = by_field.get(name) or by_field.get(name + model.dialect.implementation_suffix)
    if found is None:
        raise RunError(f"no op `{name}`; there is {', '.join(known)}{did_you_mean(name, (*known, *by_field))}")
    return found


def _is_read(model: OpsModel, field: str) -> bool:
    """Whether the field has a list of values, and another file of the package speaks of it."""
    config = model.ops_config
    declared = config.field(field) if config is not None else None
    if config is None or declared is None or declared.choices is None:
        return False
    pattern = re.compile(rf"\.{re.escape(field)}\b")
    return any(
        field in facts.text and pattern.search(facts.text)
        for module, facts in model.modules_in(model.package)
        if module != config.module
    )


def _about(op: OpOverview, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that name the op or its field, or that are where something of it is declared or documented."""
    declared = [place for spec in op.kernels for place in (spec.place, spec.spec_place)]
    declared += [spec.place for spec in op.op_specs]
    declared += [used.slot.place for used in op.slots]
    declared += [slot.place for slot in op.config_slots]
    declared += [entry.place for entry in op.npu]
    declared += [row.place for row in op.documents]
    declared += [op.field.place] if op.field is not None else []
    declared += [op.wrapper.place] if op.wrapper is not None else []
    places = {(place.path, place.line) for place in declared}
    names = re.compile(rf"[`\"](?:{re.escape(op.name)}|{re.escape(op.field_name)})[`\"]")
    for finding in findings:
        if (finding.place.path, finding.place.line) in places or names.search(finding.message):
            yield finding


def _slots(model: OpsModel, op: str) -> Iterator[UsedSlot]:
    files = {file.module: file for file in model_files(model)}
    for slot in sorted(model.slots, key=lambda slot: slot.place):
        if slot.op_name == op and slot.live and not slot.embedded and slot.source != "patch_gen_config":
            file = files.get(slot.module)
            yield UsedSlot(file.name, file.for_npu, slot) if file is not None else UsedSlot("", False, slot)


def _npu(model: OpsModel, field: str) -> Iterator[NpuEntry]:
    tables = model.npu_tables
    every: tuple[NpuTable | None, ...] = ()
    if tables is not None:
        every = (tables.allowed, tables.required, tables.fallback)
    for table in every:
        entry = table.entry(field) if table is not None else None
        if table is not None and entry is not None:
            values = None if entry.values is None else tuple(value.name for value in entry.values)
            yield NpuEntry(table.name, values, entry.place)


def _wrapper(model: OpsModel, op: str) -> WrapperEntry | None:
    wrappers = model.wrappers
    if wrappers is None:
        return None
    entries = [entry for table in wrappers.tables for entry in table.of(op)]
    if not entries and not wrappers.builders_of(op):
        return None
    implementations = wrappers.declared_implementations(op) or ()
    variants = wrappers.declared_variants(op) or ()
    return WrapperEntry(
        tuple(dict.fromkeys(one.value for one in implementations)),
        tuple(dict.fromkeys(one.value for one in variants)),
        entries[0].place if entries else wrappers.builders_place,
    )


def _tests(model: OpsModel, names: set[str]) -> Iterator[Place]:
    """The first line of each test of the ops that names the op."""
    patterns = [word_pattern(name) for name in names]
    for path, text in sorted(texts_of_tests(model).items()):
        inside = [match.start() for pattern in patterns if (match := pattern.search(text, len(path))) is not None]
        if inside or any(pattern.search(path) for pattern in patterns):
            yield Place(path, text.count("\n", 0, min(inside)) if inside else 1)


def _documents(model: OpsModel, field: str) -> Iterator[DocumentRow]:
    for document in model.documents:
        for table in field_tables(model, document):
            for row in table.rows:
                if row.field == field:
                    cells = " | ".join(cell.text for cell in row.cells)
                    yield DocumentRow(Place(document.path, row.cell.line), cells)
        for values in value_tables(model, document):
            if values.field == field:
                header = values.table.header
                listed = ", ".join(row[0].text for row in values.table.rows if row)
                yield DocumentRow(Place(document.path, header[0].line), f"{header[0].text}: {listed}")
