"""Facts of files that tests write down, and facts as values that can be compared."""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass
from pathlib import Path

from veomni_opslint.conditions import Condition
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract import extract
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.source import Source

ROOT = Path(__file__).parents[2]
FILES = sorted(
    str(file.relative_to(ROOT))
    for folder in (ROOT / "tests" / "support" / "base_tree", ROOT / "veomni")
    for file in folder.rglob("*.py")
)
"""Python files of this repository that are written in the architecture under check."""


def read(path: str) -> str:
    """The text of one of FILES."""
    return (ROOT / path).read_text(encoding="utf-8")


def facts_of(text: str, *, deep: bool = False, path: str = "veomni/x.py") -> FileFacts:
    """The facts of a file with this text."""
    return extract(Source(path, text), Dialect(), deep)


def plain(value: object) -> object:
    """A value of the facts, or all of them, with syntax trees written out, so that equal content is equal."""
    if isinstance(value, ast.AST):
        return ast.dump(value, include_attributes=True)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def written(text: str, span: Span) -> str:
    """What stands in the text at a span, cut out of its bytes."""
    lines = [line.encode() for line in text.split("\n")]
    start = sum(len(line) + 1 for line in lines[: span[0] - 1]) + span[1]
    end = sum(len(line) + 1 for line in lines[: span[2] - 1]) + span[3]
    return b"\n".join(lines)[start:end].decode()


def when_marked(text: str) -> list[Condition]:
    """The condition of each statement ``mark``, in order."""
    imports = facts_of(text.replace("mark", "import mark"), deep=True).imports
    return [imported.when for imported in imports if imported.module == "mark"]
