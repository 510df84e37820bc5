"""``opslint registry``: what the model knows of registrations, slots and configuration, as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.wrappers import Table
from veomni_opslint.registrations import Hardware, KernelSpec, OpSpec, Unknown
from veomni_opslint.registry_document import factory_name, known, registry_document
from veomni_opslint.reporters.style import Presentation
from veomni_opslint.reporters.table import Layout, markdown_table, text_layout


def render_json(model: OpsModel, _: Presentation) -> str:
    """The document as JSON."""
    return json.dumps(registry_document(model), indent=2) + "\n"


def render_text(model: OpsModel, presentation: Presentation) -> str:
    """Tables for a terminal, of its width, or for a file."""
    return "\n".join(_sections(model, text_layout(presentation), lambda text: f"{presentation.bold(text)}\n"))


def render_markdown(model: OpsModel, _: Presentation) -> str:
    """The same tables for a page."""
    return "\n".join(_sections(model, markdown_table, lambda text: f"## {text}\n"))


FORMATS: dict[str, Callable[[OpsModel, Presentation], str]] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
}


def _sections(model: OpsModel, table: Layout, heading: Callable[[str], str]) -> Iterator[str]:
    registrations = model.registrations
    if registrations.kernel_specs:
        yield heading("Kernels by op and variant")
        rows = sorted((_kernel_row(spec) for spec in registrations.kernel_specs), key=lambda row: row[:2])
        yield table(("op/variant", "implementation", "hardware", "factory"), _without_repeats(rows))
    if registrations.op_specs:
        yield heading("Ops of the legacy registry")
        columns = ("op", "scope", "config field", "default", "backends", "registered")
        yield table(columns, [_op_row(spec) for spec in registrations.op_specs])
    if model.slots:
        yield heading("Slots by op and variant")
        yield table(("op/variant", "generated", "patch configs", "other"), _slot_rows(model))
    if model.pointers:
        yield heading("Function pointers")
        yield table(("pointer", "op", "rebound by", "called by", "declared"), _pointer_rows(model))
    if model.wrappers is not None and model.wrappers.implementations is not None:
        yield heading("Wrappers of async Ulysses")
        yield table(("op", "implementations", "variants"), _wrapper_rows(model))
    if model.ops_config is not None:
        yield heading("Config fields")
        rows = [
            (field.name, field.default or "", _where(field.place), ", ".join(field.choices or ()))
            for field in model.ops_config.fields
        ]
        yield table(("field", "default", "declared", "choices"), rows)
    if registrations.unresolved:
        yield heading("Not known")
        yield table(("place", "reason"), [(_where(item.place), item.reason) for item in registrations.unresolved])
    if not (registrations.kernel_specs or registrations.op_specs or registrations.unresolved or model.slots):
        yield f"{model.package} registers no kernel and no op, and declares no slot.\n"


def _where(place: Place) -> str:
    return f"{place.path}:{place.line}"


def _kernel_row(spec: KernelSpec) -> tuple[str, ...]:
    factory = spec.factory
    if isinstance(factory, Unknown):
        where = f"? {factory.reason}"
    else:
        where = _where(factory.place) if factory.place is not None else factory_name(factory)
    return f"{spec.op_name}/{spec.variant}", spec.name, hardware_text(spec.hardware), where


def hardware_text(hardware: Hardware | Unknown) -> str:
    """The hardware that a kernel needs, in a few words."""
    if isinstance(hardware, Unknown):
        return f"? {hardware.reason}"
    device = hardware.device_type
    if isinstance(device, Unknown):
        return f"? {device.reason}"
    low, high = known(hardware.min_compute_capability), known(hardware.max_compute_capability)
    name = device if isinstance(device, str) else " or ".join(device)
    if low is not None and low == high:
        return f"{name} ={low}"
    bounds = [f">={low}"] * (low is not None) + [f"<={high}"] * (high is not None)
    return " ".join((name, *bounds))


def _op_row(spec: OpSpec) -> tuple[str, ...]:
    backends = ("?",) if isinstance(spec.backends, Unknown) else tuple(name for name, _ in spec.backends)
    shown = [value if isinstance(value, str) else "?" for value in (spec.scope, spec.config_field, spec.default)]
    return spec.name, *shown, ", ".join(backends), _where(spec.place)


def _slot_rows(model: OpsModel) -> list[tuple[str, ...]]:
    sources = ("generated", "patch_gen_config", "other")
    counts: dict[str, list[int]] = {}
    for slot in (slot for slot in model.slots if slot.live):
        counted = counts.setdefault(f"{slot.op_name or '?'}/{slot.variant or '?'}", [0, 0, 0])
        counted[sources.index(slot.source)] += 1
    return [(pair, *(str(number or "") for number in counts[pair])) for pair in sorted(counts)]


def _pointer_rows(model: OpsModel) -> list[tuple[str, ...]]:
    return [
        (
            f"{pointer.module}:{pointer.name}",
            pointer.op,
            ", ".join(function.name for function in pointer.apply),
            ", ".join(function.name for function in pointer.public),
            _where(pointer.place),
        )
        for pointer in model.pointers
    ]


def _wrapper_rows(model: OpsModel) -> list[tuple[str, ...]]:
    wrappers = model.wrappers
    if wrappers is None or wrappers.implementations is None:
        return []
    return [
        (op, _elements(wrappers.implementations, op), _elements(wrappers.variants, op))
        for op in wrappers.implementations.ops
    ]


def _elements(table: Table | None, op: str) -> str:
    entries = table.of(op) if table is not None else ()
    return ", ".join(dict.fromkeys(element.value for entry in entries for element in entry.elements or ()))


def _without_repeats(rows: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """A value of the first column is written once, so that the groups can be seen."""
    shown: list[tuple[str, ...]] = []
    last = ""
    for first, *rest in rows:
        shown.append(("" if first == last else first, *rest))
        last = first
    return shown
