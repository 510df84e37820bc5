"""``opslint op NAME`` as text, as a page, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.op_overview import OpOverview, UsedSlot
from veomni_opslint.op_steps import Status, Step, counted, steps
from veomni_opslint.registrations import Factory, KernelSpec, Unknown
from veomni_opslint.registry_document import Document, at, factory_name, kernel_document, op_document
from veomni_opslint.registry_report import hardware_text
from veomni_opslint.reporters.json_report import finding_document
from veomni_opslint.reporters.style import Presentation
from veomni_opslint.reporters.table import Layout, markdown_table, text_layout

_LONGEST = 80
_LEFT: tuple[Status, ...] = ("missing", "wrong", "not known")
Heading = Callable[[str], str]


def render_text(model: OpsModel, op: OpOverview, presentation: Presentation) -> str:
    """For a terminal, of its width, or for a file."""
    return "\n".join(_sections(model, op, text_layout(presentation), lambda text: f"{presentation.bold(text)}\n"))


def render_markdown(model: OpsModel, op: OpOverview, _: Presentation) -> str:
    """For a page."""
    return "\n".join(_sections(model, op, markdown_table, lambda text: f"## {text}\n"))


def render_json(model: OpsModel, op: OpOverview, _: Presentation) -> str:
    """The document as JSON."""
    return json.dumps(op_overview_document(model, op), indent=2) + "\n"


FORMATS: dict[str, Callable[[OpsModel, OpOverview, Presentation], str]] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
}


def op_overview_document(model: OpsModel, op: OpOverview) -> Document:
    """Everything, as the JSON object that docs/op.md describes; what is not there is null."""
    field, wrapper = op.field, op.wrapper
    return {
        "op_name": op.name,
        "variants": list(_variants(op)),
        "folder": op.folder or None,
        "kernel_specs": [kernel_document(spec) for spec in op.kernels],
        "op_specs": [op_document(spec) for spec in op.op_specs],
        "slots": [_slot(used) for used in op.slots],
        "config_slots": [{**at(slot.place), "var": slot.var, "source": slot.source} for slot in op.config_slots],
        "config_field": None
        if field is None
        else {
            "name": field.name,
            "default": field.default,
            "choices": None if field.choices is None else list(field.choices),
            **at(field.place),
        },
        "npu_tables": {
            entry.table: {"values": None if entry.values is None else list(entry.values), **at(entry.place)}
            for entry in op.npu
        },
        "wrapper": None
        if wrapper is None
        else {
            "implementations": list(wrapper.implementations),
            "variants": list(wrapper.variants),
            **at(wrapper.place),
        },
        "tests": [at(place) for place in op.tests],
        "documentation": [{**at(row.place), "text": row.text} for row in op.documents],
        "steps": [_step(step) for step in steps(model, op)],
        "findings": [finding_document(finding) for finding in op.findings],
    }


def _slot(used: UsedSlot) -> Document:
    slot = used.slot
    return {
        **at(slot.place),
        "var": slot.var,
        "variant": slot.variant,
        "model": used.model or None,
        "for_npu": used.for_npu,
        "source": slot.source,
    }


def _step(step: Step) -> Document:
    place = step.place
    return {
        "step": step.name,
        "status": step.status,
        "note": step.note,
        "file": place.path if place is not None else None,
        "line": place.line if place is not None else None,
    }


def _variants(op: OpOverview) -> dict[str, None]:
    known = [spec.variant for spec in op.kernels]
    known += [used.slot.variant for used in op.slots if used.slot.variant is not None]
    return dict.fromkeys(known)


def _sections(model: OpsModel, op: OpOverview, table: Layout, heading: Heading) -> Iterator[str]:
    variants = ", ".join(_variants(op))
    yield heading(op.name + (f" ({variants})" if variants else ""))
    facts = list(_facts(op))
    if facts:
        yield table(("what", "value", "where"), facts)
    if op.kernels:
        yield heading("Implementations")
        yield table(("variant", "implementation", "hardware", "factory"), [_kernel_row(spec) for spec in op.kernels])
    if op.slots:
        yield heading("Slots")
        yield table(("variant", "slot", "models"), list(_slot_rows(op)))
    found = steps(model, op)
    yield heading("Steps of adding an op")
    rows = [(step.name, step.status, step.note, _where(step.place)) for step in found]
    yield table(("step", "status", "what", "where"), rows)
    if op.findings:
        yield heading("Findings")
        columns = ("rule", "where", "what is wrong")
        yield table(columns, [(one.code, _where(one.place), _first_part(one.message)) for one in op.findings])
    yield _closing(op, found) + "\n"


def _closing(op: OpOverview, found: tuple[Step, ...]) -> str:
    by_status = {step.status: [one.name for one in found if one.status == step.status] for step in found}
    parts = [f"{status.capitalize()}: {', '.join(by_status[status])}." for status in _LEFT if status in by_status]
    if "missing" not in by_status:
        parts.insert(0, "Nothing is missing.")
    if op.findings:
        parts.append(f"{counted(len(op.findings), 'finding')}: `opslint .` tells more.")
    return " ".join(parts)


def _first_part(message: str) -> str:
    """What is wrong, without what that does and how to put it right."""
    return re.split(r"[:;] ", message, maxsplit=1)[0]


def _facts(op: OpOverview) -> Iterator[tuple[str, str, str]]:
    if op.field is not None:
        choices = f"; one of {', '.join(op.field.choices)}" if op.field.choices is not None else ""
        default = f" = {op.field.default}" if op.field.default is not None else ""
        yield "config field", f"{op.field.name}{default}{choices}", _where(op.field.place)
    for spec in op.op_specs:
        backends = ("?",) if isinstance(spec.backends, Unknown) else tuple(name for name, _ in spec.backends)
        scope = "?" if isinstance(spec.scope, Unknown) else spec.scope
        yield "legacy registry", f"{scope}: {', '.join(backends)}", _where(spec.place)
    for entry in op.npu:
        values = "?" if entry.values is None else ", ".join(entry.values) or "nothing but eager"
        yield entry.table, values, _where(entry.place)
    if op.wrapper is not None:
        variants = f" for {', '.join(op.wrapper.variants)}" if op.wrapper.variants else ""
        yield "wrapper", ", ".join(op.wrapper.implementations) + variants, _where(op.wrapper.place)
    if op.config_slots:
        names = ", ".join(dict.fromkeys(slot.var for slot in op.config_slots))
        yield counted(len(op.config_slots), "config slot"), names, _where(op.config_slots[0].place)
    if op.tests:
        names = ", ".join(place.path.rpartition("/")[2] for place in op.tests)
        yield counted(len(op.tests), "test file"), _shortened(names), _where(op.tests[0])
    for row in op.documents:
        yield "documentation", _shortened(" ".join(row.text.replace("`", "").split())), _where(row.place)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _kernel_row(spec: KernelSpec) -> tuple[str, ...]:
    factory = spec.factory
    if isinstance(factory, Factory):
        where = _where(factory.place) if factory.place is not None else factory_name(factory)
    else:
        where = f"? {factory.reason}"
    return spec.variant, spec.name, hardware_text(spec.hardware), where


def _slot_rows(op: OpOverview) -> Iterator[tuple[str, ...]]:
    """The slots of each name and variant in one row, with their models, or their files beside the models."""
    rows: dict[tuple[str, str], list[str]] = {}
    for used in op.slots:
        slot = used.slot
        where = f"{used.model} (NPU)" if used.for_npu else used.model or _where(slot.place)
        rows.setdefault((slot.variant or "?", slot.var or "?"), []).append(where)
    for key, models in rows.items():
        yield (*key, ", ".join(dict.fromkeys(models)))


def _where(place: Place | None) -> str:
    return f"{place.path}:{place.line}" if place is not None else ""
