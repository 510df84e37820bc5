"""A rebindable function pointer is imported by value, so it keeps what it held at import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import EmbeddedBlock, FileFacts, Import, Span
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.pointer_owners import owner, read_by
from veomni_opslint.model.presence import is_for_type_checkers
from veomni_opslint.model.symbols import Target
from veomni_opslint.proposals import Proposal
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_NOT_AT_IMPORT = ("TYPE_CHECKING", "__name__")


def check(model: OpsModel) -> Iterator[Finding]:
    seen: set[Place] = set()
    for module, names in model.pointer_mentions.items():
        facts = model.module(module)
        for pointer, place, imported in (*_imports(model, module), *_reads(model, module, facts, names)):
            if place not in seen:
                seen.add(place)
                yield rule.finding(place, _message(model, pointer, imported), _related(model, pointer))


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.live_pointers import live  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - as above

    return put_back_or(model, finding.place, lambda: live(model, finding.place))


def _imports(model: OpsModel, module: str) -> Iterator[tuple[tuple[str, str], Place, bool]]:
    """``from moe import _pointer`` where it runs when the module is loaded, and what patch generation will write."""
    bound_from = _first_apply(model, module)
    for step in model.loading.steps(module, certain=False):
        late = step.module == module and step.scope == 0 and step.imported.span[:2] > bound_from
        if not late and not is_for_type_checkers(step.imported.when):
            path = model.module(step.module).path
            for pointer, span in _imported(model, step.module, step.imported):
                yield pointer, model.place(path, span), True
    asked_for = model.patch_imports.get(module)
    for imported in asked_for.imports if asked_for is not None else ():
        for pointer, span in _imported(model, asked_for.generated if asked_for is not None else "", imported):
            yield pointer, model.place(model.module(module).path, span), True


def _imported(model: OpsModel, module: str, imported: Import) -> Iterator[tuple[tuple[str, str], Span]]:
    names = {name for _, name in model.rebindable}
    source = ""
    for one in imported.names:
        if one.name in names or one.name == "*":
            source = source or model.symbols.absolute(module, imported)
        if one.name in names:
            pointer = owner(model.symbols, model.rebindable, source, one.name)
            if pointer is not None:
                yield pointer, one.span
        elif one.name == "*" and source in model.symbols.modules:
            for exported, _ in model.symbols.modules[source].exports or ():
                pointer = owner(model.symbols, model.rebindable, source, exported) if exported in names else None
                if pointer is not None:
                    yield pointer, imported.span


def _reads(
    model: OpsModel, module: str, facts: FileFacts, names: Iterable[str]
) -> Iterator[tuple[tuple[str, str], Place, bool]]:
    """The pointer's value taken by code that runs when the module is loaded."""
    bound_from = _first_apply(model, module)
    for node in _values(list(_statements_with(facts, names))):
        pointer = _pointer_read(model, module, node)
        if pointer is not None and span_of(node)[:2] <= bound_from:
            yield pointer, model.place(facts.path, span_of(node)), False
    for block in facts.embedded:
        for pointer, span in _reads_in_block(model, module, block):
            yield pointer, model.place(facts.path, span), False


def _statements_with(facts: FileFacts, names: Iterable[str]) -> Iterator[ast.stmt]:
    """The statements at module level that mention one of the names."""
    lines: set[int] = set()
    for name in names:
        position = facts.text.find(name)
        while position >= 0:
            lines.add(facts.text.count("\n", 0, position) + 1)
            position = facts.text.find(name, position + 1)
    for statement in facts.tree.body if facts.tree is not None and lines else ():
        end = statement.end_lineno or statement.lineno
        decorated = getattr(statement, "decorator_list", None)
        first = decorated[0].lineno if decorated else statement.lineno
        if any(first <= line <= end for line in lines):
            yield statement


def _pointer_read(model: OpsModel, module: str, node: ast.expr) -> tuple[str, str] | None:
    if not isinstance(node, ast.Name):
        return read_by(model.symbols, model.rebindable, node, lambda name: model.symbols.resolve(module, 0, name))
    if (module, node.id) not in model.rebindable or _is_put_back(model.module(module), node.id):
        return None
    return module, node.id


def _is_put_back(facts: FileFacts, name: str) -> bool:
    """Whether the value is kept only to give it back to the pointer."""
    kept = re.search(rf"^(\w+)\s*(?::[^=\n]+)?=\s*{re.escape(name)}\s*$", facts.text, re.MULTILINE)
    return (
        kept is not None
        and re.search(rf"^\s*{re.escape(name)}\s*=\s*{kept[1]}\b", facts.text, re.MULTILINE) is not None
    )


def _reads_in_block(model: OpsModel, module: str, block: EmbeddedBlock) -> Iterator[tuple[tuple[str, str], Span]]:
    facts, asked_for = block.facts, model.patch_imports.get(module)
    if facts is None or facts.tree is None or asked_for is None:
        return
    bound: dict[str, str] = {}
    for imported in facts.imports:
        source = model.symbols.absolute(asked_for.generated, imported)
        bound |= {one.bound: f"{source}.{one.name}" for one in imported.names}
        if imported.how == "import":
            bound[imported.bound] = (
                imported.module if imported.bound != imported.module.partition(".")[0] else imported.bound
            )

    def resolve(name: str) -> tuple[Target, ...]:
        root, _, rest = name.partition(".")
        whole = f"{bound[root]}.{rest}".rstrip(".") if root in bound else ""
        return (Target("module", whole),) if whole in model.symbols.modules else ()

    for ref in facts.refs:
        base, _, name = ref.name.rpartition(".")
        if base and ref.scope == 0 and not ref.call and any(name == one for _, one in model.rebindable):
            for target in resolve(base):
                pointer = owner(model.symbols, model.rebindable, target.module, name)
                if pointer is not None:
                    yield pointer, ref.span


def _first_apply(model: OpsModel, module: str) -> tuple[int, int]:
    """Where the module itself has bound pointers: what it reads below, in a script, is the kernel."""
    setters = (*model.dialect.pointer_setters, "build_foundation_model")
    bound = [
        ref.span[:2]
        for ref in model.module(module).refs
        if ref.scope == 0 and ref.call and ref.name.rpartition(".")[2].startswith(setters)
    ]
    return min(bound, default=(1 << 60, 0))


def _values(statements: list[ast.stmt]) -> Iterator[ast.expr]:
    """Expressions that loading a module evaluates and that are not only called or tested there, outermost first."""
    pending: list[ast.AST] = list(reversed(statements))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            children: list[ast.AST] = [*node.decorator_list, *_defaults(node.args)]
        elif isinstance(node, ast.Lambda):
            children = list(_defaults(node.args))
        elif isinstance(node, ast.If) and _is_for_another_time(node.test):
            children = list(node.orelse)
        elif isinstance(node, ast.Call) and dotted(node.func) and dotted(node.func) != "getattr":
            children = [*node.args, *node.keywords]
        elif isinstance(node, ast.AnnAssign):
            children = [node.value] if node.value is not None else []
        else:
            children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name | ast.Attribute | ast.Call) and isinstance(
            getattr(node, "ctx", ast.Load()), ast.Load
        ):
            yield node
        pending.extend(reversed(children))


def _defaults(arguments: ast.arguments) -> Iterator[ast.expr]:
    yield from arguments.defaults
    yield from (one for one in arguments.kw_defaults if one is not None)


def _is_for_another_time(test: ast.expr) -> bool:
    return any(
        dotted(node).rpartition(".")[2] in _NOT_AT_IMPORT for node in ast.walk(test) if isinstance(node, ast.expr)
    )


def _message(model: OpsModel, pointer: tuple[str, str], imported: bool) -> str:
    module, name = pointer
    short = module.rpartition(".")[2]
    known = model.rebindable[pointer]
    setter = f"`{known.apply[0].name}` binds" if known is not None and known.apply else "is bound"
    public = next((one.name for one in known.public if not one.name.startswith("_")), "") if known is not None else ""
    advice = f"call `{public}`, or read" if public else "read"
    how = "imported by value" if imported else "read when this module is loaded"
    return (
        f"`{name}` of {module} is {how}: what is kept is the pointer as it was then, so the kernel that {setter} later "
        f"is never used here; {advice} `{short}.{name}` through the module at the time of the call"
    )


def _related(model: OpsModel, pointer: tuple[str, str]) -> list[Related]:
    module, name = pointer
    known = model.rebindable[pointer]
    if known is None:
        found = model.symbols.bindings(module)[name][0]
        return [Related(model.place(model.module(module).path, found.span), f"the pointer `{name}`")]
    return [
        Related(known.place, f"the pointer `{name}`"),
        *(Related(one.place, f"`{one.name}` rebinds it") for one in known.apply),
    ]
