"""``opslint registry``: what the model knows of registrations, slots and configuration, as JSON, text or Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.registrations import Backend, Factory, Hardware, KernelSpec, OpSpec, Unknown
from veomni_opslint.reporters.style import printable

Document = dict[str, object]


def registry_document(model: OpsModel) -> Document:
    """Everything, as the JSON object that docs/output.md describes; what is not known is null."""
    config_fields = model.ops_config.fields if model.ops_config is not None else ()
    return {
        "kernel_specs": [_kernel_spec(spec) for spec in model.registrations.kernel_specs],
        "op_specs": [_op_spec(spec) for spec in model.registrations.op_specs],
        "op_slots": [
            {
                **_at(slot.place),
                "var": slot.var,
                "op_name": slot.op_name,
                "variant": slot.variant,
                "source": slot.source,
                "embedded": slot.embedded,
            }
            for slot in sorted(model.slots, key=lambda slot: slot.place)
        ],
        "config_slots": [
            {
                **_at(slot.place),
                "var": slot.var,
                "field": slot.field_name,
                "source": slot.source,
                "embedded": slot.embedded,
            }
            for slot in sorted(model.config_slots, key=lambda slot: slot.place)
        ],
        "config_fields": [
            {
                "name": field.name,
                "default": field.default,
                "choices": None if field.choices is None else list(field.choices),
                **_at(field.place),
            }
            for field in config_fields
        ],
        "pointers": [
            _pointer(model, spec) for spec in model.registrations.op_specs if isinstance(spec.global_slot, str)
        ],
        "unresolved": [{**_at(item.place), "reason": item.reason} for item in model.registrations.unresolved],
    }


def render_json(model: OpsModel) -> str:
    """The document as JSON."""
    return json.dumps(registry_document(model), indent=2) + "\n"


def render_text(model: OpsModel) -> str:
    """Tables for a terminal, with columns as wide as they need to be."""
    return "\n".join(_sections(model, _text_table, "{}\n"))


def render_markdown(model: OpsModel) -> str:
    """The same tables for a page."""
    return "\n".join(_sections(model, _markdown_table, "## {}\n"))


FORMATS: dict[str, Callable[[OpsModel], str]] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
}

Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def _sections(model: OpsModel, table: Table, heading: str) -> Iterator[str]:
    registrations = model.registrations
    if registrations.kernel_specs:
        yield heading.format("Kernels by op and variant")
        rows = sorted((_kernel_row(spec) for spec in registrations.kernel_specs), key=lambda row: row[:2])
        yield table(("op/variant", "implementation", "hardware", "factory"), _without_repeats(rows))
    if registrations.op_specs:
        yield heading.format("Ops of the legacy registry")
        columns = ("op", "scope", "config field", "default", "backends", "registered")
        yield table(columns, [_op_row(spec) for spec in registrations.op_specs])
    if model.slots:
        yield heading.format("Slots by op and variant")
        yield table(("op/variant", "generated", "patch configs", "other"), _slot_rows(model))
    if model.ops_config is not None:
        yield heading.format("Config fields")
        rows = [
            (field.name, field.default or "", ", ".join(field.choices or ()), _where(field.place))
            for field in model.ops_config.fields
        ]
        yield table(("field", "default", "choices", "declared"), rows)
    if registrations.unresolved:
        yield heading.format("Not known")
        yield table(("place", "reason"), [(_where(item.place), item.reason) for item in registrations.unresolved])
    if not (registrations.kernel_specs or registrations.op_specs or registrations.unresolved or model.slots):
        yield f"{model.package} registers no kernel and no op, and declares no slot.\n"


def _kernel_spec(spec: KernelSpec) -> Document:
    factory = spec.factory if isinstance(spec.factory, Factory) else None
    hardware = spec.hardware if isinstance(spec.hardware, Hardware) else None
    device = _known(hardware.device_type) if hardware is not None else None
    return {
        "op_name": spec.op_name,
        "variant": spec.variant,
        "name": spec.name,
        "device_type": list(device) if isinstance(device, tuple) else device,
        "min_compute_capability": _known(hardware.min_compute_capability) if hardware is not None else None,
        "max_compute_capability": _known(hardware.max_compute_capability) if hardware is not None else None,
        "factory": _factory_name(factory) if factory is not None else None,
        **_at(spec.place),
        "factory_file": factory.place.path if factory is not None and factory.place is not None else None,
        "factory_line": factory.place.line if factory is not None and factory.place is not None else None,
        "description": _known(spec.description),
        "conditions": list(spec.conditions),
    }


def _op_spec(spec: OpSpec) -> Document:
    backends = None if isinstance(spec.backends, Unknown) else {name: _backend(item) for name, item in spec.backends}
    return {
        "name": spec.name,
        "config_field": _known(spec.config_field),
        "scope": _known(spec.scope),
        "default": _known(spec.default),
        "global_slot": _known(spec.global_slot),
        "backends": backends,
        **_at(spec.place),
    }


def _pointer(model: OpsModel, spec: OpSpec) -> Document:
    """The module-level function pointer that a GLOBAL op rebinds, at the place where it is first bound."""
    module, _, name = str(spec.global_slot).partition(":")
    place = None
    if module in model.symbols.modules:
        bindings = model.symbols.bindings(module).get(name, ())
        place = model.place(model.module(module).path, bindings[0].span) if bindings else None
    where = _at(place) if place is not None else {"file": None, "line": None}
    return {"module": module, "name": name, "op": spec.name, **where}


def _backend(backend: Backend) -> Document:
    requires = backend.requires
    return {
        "entry": _known(backend.entry),
        "requires": None if isinstance(requires, Unknown) else list(requires),
        "replace_forward": _known(backend.replace_forward),
        "entry_is_factory": _known(backend.entry_is_factory),
        "side_effect": _known(backend.side_effect),
        "target_override": _known(backend.target_override),
    }


def _known(value: object) -> object:
    return None if isinstance(value, Unknown) else value


def _at(place: Place) -> Document:
    return {"file": place.path, "line": place.line}


def _where(place: Place) -> str:
    return f"{place.path}:{place.line}"


def _factory_name(factory: Factory) -> str:
    return f"{factory.module}:{factory.qualname}" if factory.qualname else factory.dotted or factory.text


def _kernel_row(spec: KernelSpec) -> tuple[str, ...]:
    factory = spec.factory
    if isinstance(factory, Unknown):
        where = f"? {factory.reason}"
    else:
        where = _where(factory.place) if factory.place is not None else _factory_name(factory)
    return f"{spec.op_name}/{spec.variant}", spec.name, _hardware(spec.hardware), where


def _hardware(hardware: Hardware | Unknown) -> str:
    if isinstance(hardware, Unknown):
        return f"? {hardware.reason}"
    device = hardware.device_type
    if isinstance(device, Unknown):
        return f"? {device.reason}"
    low, high = _known(hardware.min_compute_capability), _known(hardware.max_compute_capability)
    name = device if isinstance(device, str) else " or ".join(device)
    bounds = [f">={low}"] * (low is not None) + [f"<={high}"] * (high is not None)
    return " ".join((name, *bounds))


def _op_row(spec: OpSpec) -> tuple[str, ...]:
    backends = ("?",) if isinstance(spec.backends, Unknown) else tuple(name for name, _ in spec.backends)
    shown = [value if isinstance(value, str) else "?" for value in (spec.scope, spec.config_field, spec.default)]
    return spec.name, *shown, ", ".join(backends), _where(spec.place)


def _slot_rows(model: OpsModel) -> list[tuple[str, ...]]:
    sources = ("generated", "patch_gen_config", "other")
    counts: dict[str, list[int]] = {}
    for slot in model.slots:
        counted = counts.setdefault(f"{slot.op_name or '?'}/{slot.variant or '?'}", [0, 0, 0])
        counted[sources.index(slot.source)] += 1
    return [(pair, *(str(number or "") for number in counts[pair])) for pair in sorted(counts)]


def _without_repeats(rows: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """A value of the first column is written once, so that the groups can be seen."""
    shown: list[tuple[str, ...]] = []
    last = ""
    for first, *rest in rows:
        shown.append(("" if first == last else first, *rest))
        last = first
    return shown


def _text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[index]) for row in (columns, *rows)) for index in range(len(columns))]
    lines = [
        "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip()
        for row in (columns, *rows)
    ]
    return "".join(f"  {printable(line)}\n" for line in lines)


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    lines += [f"| {' | '.join(value.replace('|', chr(92) + '|') for value in row)} |" for row in rows]
    return "".join(f"{line}\n" for line in lines)
