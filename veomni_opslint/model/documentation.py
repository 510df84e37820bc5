"""What the Markdown files of the project say of config fields: tables of fields, and tables of the values of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.findings import Place
from veomni_opslint.markdown import Code, Document, Fence, Paragraph, Table, Text, read_markdown
from veomni_opslint.model.linked_project import LinkedProject

_HISTORY = re.compile(
    r"(?i)\b(?:historical|superseded|obsolete|archived?|outdated|deprecated|(?:design )?proposal|rfc|draft|"
    r"changelog|release notes)\b"
)
_HISTORY_PATH = re.compile(
    r"(?i)(?:^|/)(?:change(?:log|s)|releases?(?:_notes)?|history|archive|rfcs?|proposals?)(?:/|\.md$)"
)
_HEAD_LINES = 12
_FIELD_LABEL = re.compile(r"\*\*[^*]*\b(?:field|key|option|setting)s?\b[^*]*\*\*")
_VALUE_HEADERS = frozenset({"value", "values", "backend", "implementation", "option", "choice", "setting"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class FieldRow(NamedTuple):
    """A row of a table about one config field; ``field`` may be none that exists."""

    field: str
    cell: Text
    cells: tuple[Text, ...]


class FieldTable(NamedTuple):
    """A table whose rows are about config fields; ``column`` is the one that names them."""

    document: Document
    table: Table
    column: int
    rows: tuple[FieldRow, ...]

    @property
    def place(self) -> Place:
        """The heading right above, or else the header of the table."""
        if self.table.lead is None and self.table.headings:
            return Place(self.document.path, self.table.headings[-1].text.line)
        return Place(self.document.path, self.table.header[0].line)

    def columns(self, words: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """The columns whose header has one of the words, but for the one of the fields."""
        for index, cell in enumerate(self.table.header):
            title = cell.text.lower()
            if index != self.column and any(word in title for word in words):
                yield index, title


class ValueTable(NamedTuple):
    """A table whose first column has the values of one config field."""

    document: Document
    table: Table
    field: str


def read_documents(project: LinkedProject) -> tuple[Document, ...]:
    """The documents that may say something of the ops of today; proposals and histories are left out."""
    dialect = project.dialect
    names = (dialect.implementation_suffix, project.package, dialect.op_slot, dialect.ops_config, dialect.kernel_spec)
    words = tuple(name.encode() for name in (*names, dialect.backend_spec, dialect.op_spec))
    found = []
    for path, data in project.document_sources.items():
        head = b"\n".join(data.split(b"\n", _HEAD_LINES)[:_HEAD_LINES]).decode(errors="replace")
        if any(word in data for word in words) and not _HISTORY_PATH.search(path) and not _HISTORY.search(head):
            found.append(read_markdown(path, data))
    return tuple(found)


def config_fields(project: LinkedProject) -> tuple[str, ...]:
    """The fields of the ops config that select an implementation."""
    fields = project.ops_config.fields if project.ops_config is not None else ()
    return tuple(field.name for field in fields if field.default is not None or field.choices is not None)


def field_tables(project: LinkedProject, document: Document) -> Iterator[FieldTable]:
    """The tables of a document that have a column of config fields, among them one that exists."""
    known = set(config_fields(project))
    for table in document.blocks:
        if not isinstance(table, Table):
            continue
        for column in range(len(table.header)):
            rows = tuple(_field_rows(project, table, column, known))
            if any(row.field in known for row in rows) and len(rows) * 2 > len(table.rows):
                yield FieldTable(document, table, column, rows)
                break


def value_tables(project: LinkedProject, document: Document) -> Iterator[ValueTable]:
    """The tables of values of the field that the section is about."""
    known = frozenset(config_fields(project))
    subjects: list[tuple[int, str]] = []
    for block in document.blocks:
        level = block.headings[-1].level if block.headings else 1
        if isinstance(block, Paragraph):
            if _is_heading(block):
                subjects = [one for one in subjects if one[0] < level]
            named = {name for code in block.text.codes if (name := field_of(code.text)) in known}
            if len(named) == 1 and (_is_heading(block) or _FIELD_LABEL.match(block.text.text.lower())):
                # What a first subsection says of the field holds for those beside it.
                subjects.append((level if _is_heading(block) else max(level - 1, 1), named.pop()))
        elif isinstance(block, Table):
            titled = field_of(block.header[0].plain)
            if titled in known:
                yield ValueTable(document, block, titled)
            elif subjects and block.header[0].plain.lower() in _VALUE_HEADERS:
                yield ValueTable(document, block, subjects[-1][1])


def field_of(written: str) -> str:
    """The field that a span names: the last part of ``model.ops_implementation.moe_implementation``."""
    name = written.rpartition(".")[2] if re.fullmatch(r"[\w.]+", written) else ""
    return name if _IDENTIFIER.fullmatch(name) else ""


def listed_values(cell: Text) -> list[Code]:
    """The code spans of a cell, with ``flash_attention_2/3`` written out."""
    found = []
    for code in cell.codes:
        first, *rest = code.text.strip("\"'").split("/")
        found.append(code._replace(text=first))
        stem = first.rpartition("_")[0]
        for other in rest:
            whole = f"{stem}_{other}" if stem and len(other) <= 2 else other
            found.append(code._replace(text=whole))
    return found


def code_place(document: Document, code: Code) -> Place:
    """The place of a code span, without its backticks."""
    column = code.column + 1
    return Place(document.path, code.line, column, code.line, column + len(code.text))


def text_place(document: Document, text: Text) -> Place:
    """The place of a text of one line."""
    return Place(document.path, text.line, text.column, text.line, text.column + len(text.text))


def outline(block: Table | Paragraph | Fence) -> str:
    """The headings above a block, as one text."""
    return " / ".join(heading.text.text for heading in block.headings)


def _field_rows(project: LinkedProject, table: Table, column: int, known: set[str]) -> Iterator[FieldRow]:
    for row in table.rows:
        if column >= len(row):
            continue
        cell = row[column]
        name = field_of(cell.plain)
        if name in known or (name.endswith(project.dialect.implementation_suffix) and not name.startswith("_")):
            yield FieldRow(name, cell, row)


def _is_heading(block: Paragraph) -> bool:
    return bool(block.headings) and block.headings[-1].text is block.text
