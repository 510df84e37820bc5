"""Edits of a patch, made in the generated files that hold a copy of it as well, so that both stay in step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veomni_opslint.model import OpsModel
from veomni_opslint.model.generated_files import DefinitionNode, GeneratedFile
from veomni_opslint.model.patch_plans import PlannedCode
from veomni_opslint.model.planned_source import planned_source, renamed
from veomni_opslint.model.same_code import dedented_lines, first_difference
from veomni_opslint.proposals import Edit, offset
from veomni_opslint.source import lines_of


def copies(model: OpsModel, path: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The same *edits* for each generated file whose copy of the patch in *path* is written as the patch is."""
    if not path.removesuffix(".py").endswith(model.dialect.patch_config_suffix):
        return
    text = model.files[path].text
    ours = [edit for edit in edits if edit.path in ("", path)]
    for generated, plan in model.patch_plans.items():
        facts = model.symbols.modules.get(generated)
        if facts is None:
            continue
        copied: list[Edit] = []
        for code in plan.code:
            if code.definition is None or code.definition.path != path:
                continue
            inside = [edit for edit in ours if _holds(text, code.definition.node, edit)]
            for node in GeneratedFile(facts).find(code.kind, code.target)[-1:] if inside else ():
                copied += _copied(code, text, inside, node, facts.text, facts.path)
        yield from copied


def _holds(text: str, node: DefinitionNode, edit: Edit) -> bool:
    start, end = offset(text, node.lineno, 0), offset(text, node.end_lineno or node.lineno, 0)
    return start <= edit.start and edit.end <= (text.find("\n", end) + 1 or len(text))


def _copied(
    code: PlannedCode, text: str, edits: Sequence[Edit], node: DefinitionNode, there: str, path: str
) -> list[Edit]:
    """All of the *edits*, or none where a line that one of them touches is written in another way *there*."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - slow to import

    planned = planned_source(code, text)
    if planned is None or code.definition is None:
        return []
    first = code.definition.node.lineno
    written, found = lines_of(text), lines_of(there)
    copy = dedented_lines(found, node)
    if first_difference(planned, copy) is not None:
        return []
    matcher = SequenceMatcher(None, planned, copy, autojunk=False)
    counterpart = {
        first + one.a + index: node.lineno + one.b + index
        for one in matcher.get_matching_blocks()
        for index in range(one.size)
    }
    shift = node.col_offset - code.definition.node.col_offset
    copied = []
    for edit in edits:
        line, last = (text.count("\n", 0, at) + 1 for at in (edit.start, edit.end))
        if edit.end > edit.start and text[edit.end - 1] == "\n":
            last -= 1
        touched = range(line, last + 1)
        goes_on = [counterpart[one] - counterpart[line] for one in touched if one in counterpart]
        if goes_on != list(range(len(touched))):
            return []
        if any(written[one - 1].strip() != planned[one - first].strip() for one in touched):
            return []
        start = _there(text, edit.start, line, there, counterpart[line], shift)
        if text[edit.start : edit.end].endswith("\n"):
            end = offset(there, counterpart[last], len(found[counterpart[last] - 1])) + 1
        else:
            end = _there(text, edit.end, last, there, counterpart[last], shift)
        new = _shifted(renamed(code, edit.text), shift, whole_lines=edit.start == offset(text, line, 0))
        copied.append(Edit(start, end, new, path))
    return copied


def _there(text: str, at: int, line: int, there: str, other: int, shift: int) -> int:
    """The index in the generated file of what is at *at*, in a line, of the config."""
    column = at - offset(text, line, 0)
    return offset(there, other, column + shift if column else 0)


def _shifted(text: str, shift: int, *, whole_lines: bool) -> str:
    """The lines of *text*, but the first where it goes into a line, with *shift* more spaces in front."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line and (index or whole_lines):
            lines[index] = " " * shift + line if shift > 0 else line[min(-shift, len(line) - len(line.lstrip(" "))) :]
    return "\n".join(lines)
