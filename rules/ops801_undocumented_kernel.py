"""A table of the documentation that lists config fields or their values lacks one that exists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.markdown import Text
from veomni_opslint.model import OpsModel
from veomni_opslint.model.documentation import (
    FieldTable,
    ValueTable,
    config_fields,
    field_tables,
    listed_values,
    text_place,
    value_tables,
)
from veomni_opslint.model.known_values import registered_values
from veomni_opslint.registrations import Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_LISTING = ("default", "value", "backend", "choice", "type", "option", "implementation")
_VALUES = ("value", "backend", "choice", "option", "implementation")
_PARTIAL = (
    "gpu",
    "npu",
    "cuda",
    "ascend",
    "cpu",
    "liger",
    "recommended",
    "replacement",
    "fallback",
    "example",
    "target",
)
_KNOWN_VALUES = re.compile(r"(?i)\b(?:known|available|supported|allowed|valid|possible|accepted) values(?: are)?:\s*")
_LITERAL = re.compile(r"Literal\[([^\]]*)\]")


def check(model: OpsModel) -> Iterator[Finding]:
    fields = config_fields(model)
    if not fields:
        return
    required = {field: registered_values(model, field) for field in fields}
    for document in model.documents:
        for table in field_tables(model, document):
            yield from _missing_fields(model, table, fields)
            for row in table.rows:
                if row.field in required:
                    for cell, listed in _lists(table, row.cells):
                        place = text_place(document, cell)
                        yield from _missing(model, place, row.field, listed, required[row.field], "this row")
        for values in value_tables(model, document):
            yield from _missing_rows(model, values, required[values.field])


def _missing_fields(model: OpsModel, table: FieldTable, fields: tuple[str, ...]) -> Iterator[Finding]:
    """Fields that a table of most of them lacks; one of a few is about these only.

    With two columns of what one wants to know of any field, a third of them is enough.
    """
    named = {row.field for row in table.rows}
    columns = sum(not any(word in title for word in _PARTIAL) for _, title in table.columns(_LISTING))
    if not columns or len(named.intersection(fields)) * (3 if columns > 1 else 2) <= len(fields):
        return
    config = model.ops_config
    for field in config.fields if config is not None else ():
        if field.name in fields and field.name not in named:
            yield rule.finding(
                table.place,
                f"the table of config fields lacks `{field.name}`: a reader takes it that the kernel cannot be "
                "selected; add a row for it",
                [Related(field.place, f"the field `{field.name}`")],
            )


def _lists(table: FieldTable, cells: tuple[Text, ...]) -> Iterator[tuple[Text, set[str]]]:
    """The cells of a row that list values, each with these."""
    for index, title in table.columns(_VALUES):
        if index < len(cells) and not any(word in title for word in _PARTIAL):
            yield cells[index], {code.text for code in listed_values(cells[index])}
    for index, cell in enumerate(cells):
        if index == table.column:
            continue
        literal = _LITERAL.search(cell.text)
        known = _KNOWN_VALUES.search(cell.text)
        if literal is not None:
            yield cell, set(re.findall(r"[\"']([\w.-]+)[\"']", literal[1]))
        elif known is not None:
            sentence = cell.text[known.end() :]
            end = re.search(r"\.(?:\s|$)", sentence)
            part = Text(sentence[: end.start()] if end is not None else sentence, cell.line, cell.column)
            yield cell, {code.text for code in listed_values(part)}


def _missing_rows(model: OpsModel, values: ValueTable, required: tuple[str, ...]) -> Iterator[Finding]:
    """Values of the field that its table has no row for."""
    listed = [{code.text for code in listed_values(row[0])} for row in values.table.rows if row]
    accepted = {*required, model.dialect.eager}
    if values.field == values.table.header[0].plain or sum(bool(one & accepted) for one in listed) * 2 < len(listed):
        return
    place = Place(values.document.path, values.table.header[0].line)
    yield from _missing(model, place, values.field, {text for one in listed for text in one}, required, "this table")


def _missing(
    model: OpsModel, place: Place, field: str, listed: set[str], required: Iterable[str], where: str
) -> Iterator[Finding]:
    if not listed & {*required, model.dialect.eager}:
        return
    places = _registered_at(model, field)
    for value in required:
        if value not in listed:
            yield rule.finding(
                place,
                f"{where} lacks the value `{value}` of `{field}`: a reader does not learn that it can be selected; "
                "add it",
                [Related(places[value], f"`{value}` is declared here")] if value in places else (),
            )


def _registered_at(model: OpsModel, field: str) -> Mapping[str, Place]:
    from veomni_opslint.model.binding import config_field_name, config_value  # noqa: PLC0415 - for a finding only

    found: dict[str, Place] = {}
    for spec in model.registrations.kernel_specs:
        if config_field_name(model, spec.op_name) == field:
            found.setdefault(config_value(model, spec.op_name, spec.name), spec.spec_place)
    for op in model.registrations.op_specs:
        if op.config_field == field and not isinstance(op.backends, Unknown):
            for name, backend in op.backends:
                found.setdefault(name, backend.place)
    declared = model.ops_config.field(field) if model.ops_config is not None else None
    if declared is not None:
        for choice in declared.choices or ():
            found.setdefault(choice, declared.place)
    return found
