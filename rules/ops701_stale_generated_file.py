"""A generated file disagrees with its patch config: slots, imports or patched bodies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import EmbeddedBlock, FileFacts, Import, Span
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.generated_files import DefinitionNode, GeneratedFile, assigned_names
from veomni_opslint.model.global_names import uses_global
from veomni_opslint.model.left_overs import left_overs
from veomni_opslint.model.patch_plans import Origin, PatchPlan, PlannedBlock, PlannedCode, PlannedImport
from veomni_opslint.model.planned_source import planned_source, renamed
from veomni_opslint.model.same_code import dedented_lines, first_difference, same_tree
from veomni_opslint.parsing import parse
from veomni_opslint.proposals import NotPossibleError, Proposal
from veomni_opslint.rule import Rule
from veomni_opslint.source import lines_of

rule = Rule.of(__name__, Severity.ERROR)

_LEFT_OVER = {
    "class": "class `{}` was patched, but {} patches it no more",
    "function": "function `{}` was patched, but {} patches it no more",
    "method": "method `{}` was patched, but {} patches it no more",
    "slot": "slot `{}` is declared here, but {} declares it no more",
    "import": "`{}` is here, but {} adds it no more",
    "dropped": "the import of `{}` is here, but {} drops it",
    "excluded": "`{}` is here, but {} excludes it",
}
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(?P<name>\w+)")


def check(model: OpsModel) -> Iterator[Finding]:
    for generated, plan in model.patch_plans.items():
        facts = model.symbols.modules.get(generated)
        if facts is not None and facts.tree is not None:
            yield from _Comparison(model, plan, facts).findings()


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.restoring import restored  # noqa: PLC0415 - only a finding needs it

    proposal = restored(model, finding.place)
    if proposal is None:
        raise NotPossibleError("only patched functions and imports can be put back: generate the file again")
    return proposal


class _Comparison:
    """One patch config and the generated file."""

    def __init__(self, model: OpsModel, plan: PatchPlan, facts: FileFacts) -> None:
        self._model = model
        self._plan = plan
        self._file = GeneratedFile(facts)
        self._config = plan.path.rpartition("/")[2]

    def findings(self) -> Iterator[Finding]:
        plan = self._plan
        for code in plan.code if plan.knows("code") else ():
            yield from self._external(code) if code.external else self._definition(code)
        for imported in plan.imports if plan.knows("imports", "blocks") else ():
            yield from self._import(imported)
        for block in plan.blocks if plan.knows("blocks") else ():
            yield from self._block(block)
        for one in left_overs(plan, self._file, self._model.package, self._model.dialect):
            yield self._finding(one.span, _LEFT_OVER[one.kind].format(one.name, self._config), [])

    def _definition(self, code: PlannedCode) -> Iterator[Finding]:
        expected = self._expected(code)
        target = _named_like(expected, code.target) if expected is not None else code.target
        found = self._file.find(code.kind, target)
        if not found:
            yield self._missing_definition(code, target)
            return
        if expected is None or code.definition is None:
            return
        differences = [first_difference(expected, dedented_lines(self._file.lines, node)) for node in found]
        at = code.definition.node.lineno
        if None in differences:
            same = found[differences.index(None)]
            if not _decorated_alike(code, code.definition.decorators, same):
                yield self._different(
                    code, target, span_of(same.decorator_list[0] if same.decorator_list else same), at
                )
            return
        node, difference = found[-1], differences[-1] or (0, 0)
        yield self._different(code, target, self._line(node.lineno + difference[1]), at + difference[0])

    def _line(self, line: int) -> Span:
        text = self._file.lines[line - 1]
        return (line, len(text) - len(text.lstrip()), line, len(text.encode()))

    def _expected(self, code: PlannedCode) -> list[str] | None:
        return planned_source(code, self._model.files[code.definition.path].text) if code.definition else None

    def _external(self, code: PlannedCode) -> Iterator[Finding]:
        module, _, name = code.external.rpartition(".")
        bound = self._file.imports.get(code.target, [])
        if any(one.module == module and there == name for one, there, _ in bound):
            return
        found = [span for _, _, span in bound] + [span_of(node) for node in self._file.find("class", code.target)]
        yield self._finding(
            found[-1] if found else self._file.last_import(),
            f"`{code.target}` is not `{code.external}`, which {self._config} puts in its place",
            [self._origin(code.origin, "the class is replaced here")],
        )

    def _import(self, wanted: PlannedImport) -> Iterator[Finding]:
        bound = self._file.imports.get(wanted.bound, [])
        if any(_is_import(one, there, wanted) for one, there, _ in bound):
            return
        related = [self._origin(wanted.origin, "the import is asked for here")]
        what = f"from {wanted.module} import {wanted.name}" if wanted.name else f"import {wanted.module}"
        if not bound:
            # The formatter that follows generation drops imports that nothing uses.
            if wanted.bound == "*" or self._uses(wanted.bound):
                message = f"`{what}` is missing, which {self._config} adds"
                yield self._finding(self._file.last_import(), message, related)
            return
        if not any(one.bound == wanted.bound and one is not wanted for one in self._plan.all_imports()):
            message = f"`{wanted.bound}` is imported from elsewhere than by `{what}`, which {self._config} adds"
            yield self._finding(bound[-1][2], message, related)

    def _uses(self, name: str) -> bool:
        return uses_global(self._file.facts, name)

    def _block(self, planned: PlannedBlock) -> Iterator[Finding]:
        facts = planned.block.facts
        if facts is None:
            return
        at = self._file.last_import()
        wanted = tuple(planned.imports())
        for node in _statements(facts.text):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
                for imported in wanted:
                    if imported.bound in names:
                        yield from self._import(imported)
                continue
            found, same = self._counterpart(node, facts)
            if same is not None:
                at = span_of(same)
                continue
            related = [self._origin(Origin(planned.path, _place_in(planned.block, node)), "the patch config says this")]
            if found:
                message = f"{_described(node, lines_of(facts.text))} is not what {self._config} adds"
                yield self._finding(span_of(found[-1]), message, related)
            else:
                yield self._finding(
                    at, f"{_described(node, lines_of(facts.text))} is missing, which {self._config} adds", related
                )

    def _counterpart(self, node: ast.stmt, block: FileFacts) -> tuple[list[ast.stmt], ast.stmt | None]:
        """Statements of the file that stand for one of a block, and the one that says the same."""
        candidates: list[ast.stmt]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            candidates = list(self._file.definitions.get(node.name, ()))
        elif names := assigned_names(node):
            candidates = self._file.assignments(names[0])
            return candidates, next((one for one in candidates if same_tree(node, one)), None)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return [node], node
        else:
            candidates = [one for one in self._file.body if type(one) is type(node)]
        expected = dedented_lines(lines_of(block.text), node)
        for one in candidates:
            if first_difference(expected, dedented_lines(self._file.lines, one)) is None:
                return candidates, one
        known = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        return (candidates if known else []), None

    def _missing_definition(self, code: PlannedCode, target: str) -> Finding:
        owner = self._file.definitions.get(target.rpartition(".")[0], ())
        place = span_of(owner[-1]) if owner else self._file.last_import()
        message = f"{code.kind} `{target}` is missing, which {self._config} puts here"
        return self._finding(place, message, [self._origin(code.origin, "the patch config asks for it here")])

    def _different(self, code: PlannedCode, target: str, span: Span, line: int) -> Finding:
        """*line* is where the patch says something else."""
        message = f"{code.kind} `{target}` is not what {self._config} puts here"
        related = [self._origin(code.origin, "the patch config asks for it here")]
        if code.definition is not None:
            path = code.definition.path
            text = lines_of(self._model.files[path].text)[line - 1]
            patch = (line, len(text) - len(text.lstrip()), line, len(text.encode()))
            related.insert(0, Related(self._model.place(path, patch), "the patch says this"))
        return self._finding(span, message, related)

    def _origin(self, origin: Origin, message: str) -> Related:
        return Related(self._model.place(origin.path, origin.span), message)

    def _finding(self, span: Span, what: str, related: list[Related]) -> Finding:
        message = (
            f"{what}: the generated file is stale or was edited by hand, so other code runs than the patch config "
            "says, until the next generation undoes it; put the patch config right and generate the file again"
        )
        if not related:
            related = [self._origin(Origin(self._plan.path, self._plan.created), "the patch config")]
        return rule.finding(self._model.place(self._file.facts.path, span), message, related)


def _place_in(block: EmbeddedBlock, node: ast.stmt) -> Span:
    """Where the config writes a statement of a block: where it binds its name, else the whole block."""
    names = assigned_names(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = (node.name,)
    for binding in block.facts.bindings if block.facts is not None else ():
        if binding.scope == 0 and binding.name in names:
            return binding.span
    return block.call


@lru_cache(maxsize=256)
def _statements(code: str) -> tuple[ast.stmt, ...]:
    """The statements of a block, placed in its own code."""
    return tuple(parse(code).body)


def _named_like(code: list[str], target: str) -> str:
    """The target under the name that the definition really has, which the texts of a name map may have changed."""
    match = _DEFINED.match(code[0]) if code else None
    owner, dot, name = target.rpartition(".")
    return f"{owner}{dot}{match['name'] if match is not None else name}"


def _decorated_alike(code: PlannedCode, decorators: Sequence[ast.expr], node: DefinitionNode) -> bool:
    """Whether the decorators that stay are there; a method keeps those of the source module as well."""
    try:
        wanted = [renamed(code, ast.unparse(decorator)) for decorator in decorators]
        found = [ast.unparse(decorator) for decorator in node.decorator_list]
    except RecursionError:
        return True
    if code.kind == "method":
        return not wanted or found[-len(wanted) :] == wanted
    return found == wanted


def _is_import(imported: Import, name: str, wanted: PlannedImport) -> bool:
    """Whether an import binds what is wanted; ``import a.b as c`` and ``from a import b as c`` are the same."""
    module = "." * imported.level + imported.module
    return _full_name(module, name) == _full_name(wanted.module, wanted.name)


def _full_name(module: str, name: str) -> str:
    return f"{module}.{name}" if name else module


def _described(node: ast.stmt, lines: list[str]) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return f"`{node.name}`"
    names = assigned_names(node)
    return f"`{names[0]}`" if names else f"the statement `{lines[node.lineno - 1].strip()}`"
