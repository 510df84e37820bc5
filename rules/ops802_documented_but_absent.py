"""The documentation names a config field, value, default, path or attribute that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.markdown import Document, Fence, Text
from veomni_opslint.model import OpsModel
from veomni_opslint.model.documentation import (
    FieldTable,
    code_place,
    config_fields,
    field_tables,
    listed_values,
    text_place,
    value_tables,
)
from veomni_opslint.model.documented_names import absent_names, makes_kernel, mentions
from veomni_opslint.model.known_values import known_values, registered_values
from veomni_opslint.model.ops_config import OpsConfig
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_VALUES = ("value", "backend", "choice", "option", "implementation", "fallback")
_SELECTION = re.compile(r"(?:[\w.-]*\.)?(\w+)(?:\s*[=:]\s*[\"']?([A-Za-z][\w-]*)[\"']?)?")
_YAML_LINE = re.compile(r"(\s*)(?:#\s*)?(\w+):(?:\s+[\"']?([A-Za-z][\w-]*)[\"']?)?\s*(#.*)?")
_OPTION = re.compile(r"--[\w.]*\bops_implementation\.(\w+)(?:[ =]+[\"']?([A-Za-z][\w-]*))?")
_SECTION = "ops_implementation"
_SAYS_DEFAULT = re.compile(r"#\s*default\b(?!\s*on\b)")


class _Known(NamedTuple):
    """The fields that there are, and their defaults."""

    model: OpsModel
    config: OpsConfig
    fields: tuple[str, ...]
    defaults: Mapping[str, str | None]

    def accepts(self, field: str, value: str) -> bool:
        """Whether a value can be one of the field: something implements it, or the config class speaks of it."""
        if value == self.model.dialect.eager or value in registered_values(self.model, field):
            return True
        text = self.model.module(self.config.module).text
        if f'"{value}"' in text or f"'{value}'" in text:
            return True
        values = known_values(self.model, self.config, field)
        return values is None or value in values

    def is_foreign(self, name: str, after: str = "") -> bool:
        """Whether something else of the project is called like this, or it does not look like a field at all.

        *after* is what then follows the name in the code: the colon of a field.
        """
        if not name.endswith(self.model.dialect.implementation_suffix) or name.startswith("_"):
            return True
        whole = re.compile(rf"\b{re.escape(name)}\b\s*{after}")
        return any(name in facts.text and whole.search(facts.text) for facts in self.model.files.values())


def check(model: OpsModel) -> Iterator[Finding]:
    config = model.ops_config
    fields = config_fields(model)
    if config is not None and fields:
        known = _Known(model, config, fields, {field.name: field.default for field in config.fields})
        for document in model.documents:
            reported: set[tuple[int, str]] = set()
            for finding in _in_document(known, document):
                if (finding.place.line, finding.message) not in reported:
                    reported.add((finding.place.line, finding.message))
                    yield finding
    for absent in absent_names(model):
        near = nearest(absent.written.rpartition(":")[2].rpartition(".")[2], absent.names) if absent.names else None
        near = near or (nearest(absent.written, absent.names) if absent.names else None)
        yield rule.finding(
            absent.place,
            f"the documentation names `{absent.written}`, and {absent.what}: who follows it gets an error; correct it"
            + (f"; did you mean `{near}`?" if near else ""),
        )


def _in_document(known: _Known, document: Document) -> Iterator[Finding]:
    for table in field_tables(known.model, document):
        yield from _in_table(known, table)
    for values in value_tables(known.model, document):
        cells = [row[0] for row in values.table.rows if row]
        yield from _unknown_values(known, document, [(values.field, cell) for cell in cells])
    for mention in mentions(document):
        found = _SELECTION.fullmatch(mention.code.text)
        if found is None or mention.past or mention.makes_kernel:
            continue
        if found[1] in known.fields:
            if found[2] and not known.accepts(found[1], found[2]):
                yield _value(known, mention.place, found[1], found[2])
        elif not known.is_foreign(found[1]):
            yield _field(known, mention.place, found[1])
    for block in document.blocks:
        if isinstance(block, Fence) and not makes_kernel(block):
            yield from _in_fence(known, document, block)


def _in_table(known: _Known, table: FieldTable) -> Iterator[Finding]:
    document = table.document
    for row in table.rows:
        if row.field not in known.fields and not known.is_foreign(row.field, ":"):
            yield _field(known, text_place(document, row.cell), row.field)
    for index, _ in table.columns(_VALUES):
        cells = [(row.field, row.cells[index]) for row in table.rows if index < len(row.cells)]
        yield from _unknown_values(known, document, cells)
    for index, title in table.columns(("default",)):
        for row in table.rows:
            default = known.defaults.get(row.field)
            if default is None or index >= len(row.cells):
                continue
            cell = row.cells[index]
            said = [code.text.strip("\"'") for code in cell.codes] or [cell.plain]
            right = {default}
            if "npu" in title or "npu" in cell.text.lower():
                right |= _fallback(known.model, row.field)
            if right.isdisjoint(said) and all(re.fullmatch(r"[\w.-]+", one) for one in said[:1]):
                yield rule.finding(
                    text_place(document, cell),
                    f"the documentation says that `{row.field}` is `{said[0]}` by default, and it is `{default}`: a "
                    "reader who leaves it out gets another kernel than the one that was promised; correct it",
                )


def _fallback(model: OpsModel, field: str) -> set[str]:
    tables = model.npu_tables
    entry = tables.fallback.entry(field) if tables is not None and tables.fallback is not None else None
    return {value.name for value in entry.values or ()} if entry is not None else set()


def _unknown_values(known: _Known, document: Document, cells: Sequence[tuple[str, Text]]) -> Iterator[Finding]:
    """Values in cells that mostly hold values of their field."""
    listed = [(field, [code for code in listed_values(cell) if not code.aside]) for field, cell in cells]
    listed = [(field, codes) for field, codes in listed if codes]
    real = sum(any(known.accepts(field, code.text) for code in codes) for field, codes in listed)
    for field, codes in listed if real * 2 >= len(listed) else ():
        for code in codes:
            if re.fullmatch(r"[A-Za-z][\w-]*", code.text) and not known.accepts(field, code.text):
                yield _value(known, code_place(document, code), field, code.text)


def _in_fence(known: _Known, document: Document, fence: Fence) -> Iterator[Finding]:
    """Configuration in a block of YAML, and options of a command."""
    section = -1
    for number, line in enumerate(fence.lines, fence.line):
        for option in _OPTION.finditer(line):
            yield from _selected(
                known, Place(document.path, number, option.start(1) + 1), option[1], option[2], strict=True
            )
        found = _YAML_LINE.fullmatch(line) if fence.language in ("yaml", "yml") else None
        if found is None:
            continue
        indent, key, value, comment = len(found[1]), found[2], found[3], found[4] or ""
        if key == _SECTION:
            section = indent
        elif line.strip() and not line.lstrip().startswith("#") and indent <= section:
            section = -1
        else:
            place = Place(document.path, number, found.start(2) + 1)
            yield from _selected(known, place, key, value, strict=section >= 0 and ":" in line.partition("#")[0])
            default = known.defaults.get(key)
            if value and default and _SAYS_DEFAULT.match(comment) and value != default and key in known.fields:
                yield rule.finding(
                    place,
                    f"the documentation says that `{key}` is `{value}` by default, and it is `{default}`: a reader who "
                    "leaves it out gets another kernel than the one that was promised; correct it",
                )


def _selected(known: _Known, place: Place, field: str, value: str | None, *, strict: bool) -> Iterator[Finding]:
    if field in known.fields:
        if value and not known.accepts(field, value):
            yield _value(known, place, field, value)
    elif strict and known.config.field(field) is None:
        yield _field(known, place, field)


def _field(known: _Known, place: Place, field: str) -> Finding:
    near = nearest(field, known.fields)
    hint = f"; did you mean `{near}`?" if near else ""
    return rule.finding(
        place,
        f"the documentation names the config field `{field}`, and {known.model.dialect.ops_config} has none: who sets "
        f"it changes nothing; correct or remove it{hint}",
    )


def _value(known: _Known, place: Place, field: str, value: str) -> Finding:
    values = known_values(known.model, known.config, field) or ()
    near = nearest(value, values)
    hint = f"; did you mean `{near}`?" if near else ""
    return rule.finding(
        place,
        f"the documentation gives `{value}` for `{field}`, and nothing implements it: who selects it gets an error "
        f"when the model is built; correct or remove it{hint}",
    )
