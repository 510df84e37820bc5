"""The source of a patch as patch generation writes it: texts of the name map replaced, then the definition renamed."""

from __future__ import annotations

import ast

from veomni_opslint.model.patch_plans import PlannedCode
from veomni_opslint.model.same_code import dedented_lines
from veomni_opslint.source import lines_of


def planned_source(code: PlannedCode, text: str) -> list[str] | None:
    """The lines of the definition without its decorators; *text* is that of the file that holds it.

    One line here is one line there. None where the source of the patch is not known.
    """
    if code.definition is None:
        return None
    node = code.definition.node
    written = dedented_lines(lines_of(text), node)
    name = code.target.rpartition(".")[2]
    if not code.name_map and node.name == name:
        return written
    source = renamed(code, "\n".join(written))
    if node.name != name:
        word = "class" if isinstance(node, ast.ClassDef) else "def"
        source = source.replace(f"{word} {node.name}", f"{word} {name}", 1)
    return source.split("\n")


def renamed(code: PlannedCode, text: str) -> str:
    """A text after the replacements of the name map, the longest first."""
    for old, new in sorted(code.name_map, key=lambda one: len(one[0]), reverse=True):
        text = text.replace(old, new)
    return text
