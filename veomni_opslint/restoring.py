"""Putting a place of a generated file back to what its patch config says: a fix of several rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.findings import Fix, Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.generated_files import DefinitionNode, GeneratedFile
from veomni_opslint.model.patch_plans import PatchPlan
from veomni_opslint.model.planned_source import planned_source
from veomni_opslint.model.same_code import dedented_lines, first_difference, same_lines
from veomni_opslint.parsing import parse
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, is_generated, module_of, offset


def put_back_or(model: OpsModel, place: Place, otherwise: Callable[[], Proposal | None]) -> Proposal | None:
    """In a generated file, what the config says; in other files, and where it says nothing, what *otherwise* offers.

    The latter is no more than a help in a generated file: the next generation undoes the fault and the fix.

    Raises:
        NotPossibleError: the config says the same, or *otherwise* did.
    """
    if not is_generated(model, place.path):
        return otherwise()
    proposal = restored(model, place)
    if proposal is None and (proposal := otherwise()) is not None:
        proposal = proposal._replace(fix=Fix(proposal.fix.description, safe=False))
    return proposal


def restored(model: OpsModel, place: Place) -> Proposal | None:
    """Let the patched function or the import at *place* be what the config says; None where it says nothing of it.

    Raises:
        NotPossibleError: the config says the same.
    """
    plan = model.patch_plans.get(module_of(model, place.path))
    if plan is None:
        return None
    facts = model.files[place.path]
    return _patch(model, plan, facts, place) or _import(model, plan, facts, place)


def _patch(model: OpsModel, plan: PatchPlan, facts: FileFacts, place: Place) -> Proposal | None:
    file = GeneratedFile(facts)
    config = plan.path.rpartition("/")[2]
    for code in plan.code:
        for node in file.find(code.kind, code.target)[-1:]:
            if code.definition is None or not node.lineno <= place.line <= (node.end_lineno or node.lineno):
                continue
            expected = planned_source(code, model.files[code.definition.path].text)
            if expected is None:
                return None
            if first_difference(expected, dedented_lines(file.lines, node)) is None:
                raise NotPossibleError(f"{config} says the same: what is put right there is put right here")
            what = Fix(f"write `{code.target}` as {config} has it", safe=False)
            return Proposal(what, partial(_edits, facts, expected, node))
    return None


def _import(model: OpsModel, plan: PatchPlan, facts: FileFacts, place: Place) -> Proposal | None:
    """Take out what the config does not add and, being of the project or of an NPU package, no source module has."""
    if not plan.knows("imports", "blocks", "code"):
        return None
    if plan.source_module.partition(".")[0] == model.package:
        return None
    added = {one.bound for one in plan.imports} | {one.target for one in plan.code}
    for planned in plan.blocks:
        for imported in planned.block.facts.imports if planned.block.facts is not None else ():
            added |= {imported.bound} | {one.bound for one in imported.names}
    roots = (model.package, *model.dialect.npu_packages)
    for imported in facts.imports:
        names = [one.bound for one in imported.names] if imported.how == "from" else [imported.bound]
        places = {model.place(place.path, span) for span in (imported.span, *(one.span for one in imported.names))}
        own = imported.level > 0 or imported.module.partition(".")[0] in roots
        if imported.scope == 0 and place in places and own and added.isdisjoint(names):
            what = Fix(f"remove the import, which {plan.path.rpartition('/')[2]} does not add", safe=False)
            return Proposal(what, partial(_without, model, facts, imported.span))
    return None


def _edits(facts: FileFacts, expected: Sequence[str], node: DefinitionNode) -> Iterator[Edit]:
    """Whole lines, where they say something else; how they break is the matter of the formatter."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - slow to import

    margin = " " * node.col_offset
    found = dedented_lines(facts.lines, node)
    expected = _with_self_as_in(node, expected)
    for kind, first, last, start, end in SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
        if kind != "equal" and not same_lines(expected[first:last], found[start:end]):
            new = "".join(f"{margin}{line}\n" if line else "\n" for line in expected[first:last])
            if node.lineno + end > len(facts.lines):
                yield Edit(offset(facts.text, node.lineno + start, 0), len(facts.text), new.removesuffix("\n"))
            else:
                first_line, line_after = (offset(facts.text, node.lineno + line, 0) for line in (start, end))
                yield Edit(first_line, line_after, new)


def _with_self_as_in(node: DefinitionNode, lines: Sequence[str]) -> Sequence[str]:
    """The lines of a function without the annotation of ``self``, where the generator has dropped it from *node*."""
    wanted, given = _self_of(parse("\n".join(lines)).body[0]), _self_of(node)
    if wanted is None or wanted.annotation is None or given is None or given.annotation is not None:
        return lines
    line = lines[wanted.lineno - 1].encode()
    if wanted.annotation.end_lineno != wanted.lineno:
        return lines
    bare = line[: wanted.col_offset] + b"self" + line[wanted.annotation.end_col_offset :]
    return [*lines[: wanted.lineno - 1], bare.decode(), *lines[wanted.lineno :]]


def _self_of(node: ast.stmt) -> ast.arg | None:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None)
    return first if first is not None and first.arg == "self" else None


def _without(model: OpsModel, facts: FileFacts, span: Span) -> Iterator[Edit]:
    from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - libcst is slow to import

    code = code_of(facts.text, model.package)
    found = code.import_at(*span[:2])
    if found is not None:
        yield code.without(*found, None)
