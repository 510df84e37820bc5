"""Putting an import of an NPU package behind the project's guard: the fix of OPS201."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from veomni_opslint.deferral import NOT_PLAIN, deferral
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.findings import Fix, Place
from veomni_opslint.import_uses import ImportUses, import_uses
from veomni_opslint.model import OpsModel
from veomni_opslint.model.expression_places import ancestors, expression_at
from veomni_opslint.model.factories import parsed
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, is_generated, is_patch, module_of
from veomni_opslint.registrations import Factory

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class _Guard:
    """What to write as the condition, and the import that it needs where the file has none."""

    condition: str
    line: int = 0
    statement: str = ""


def guarded(model: OpsModel, place: Place) -> Proposal:
    """Guard the import, the dynamic import or the backend at *place*.

    Raises:
        NotPossibleError: what is imported would be missed, or the guard cannot be had here.
    """
    if is_generated(model, place.path):
        raise NotPossibleError("the file is generated: its patch config has to change, or it has to be generated again")
    facts = model.files[place.path]
    tree = parsed(facts.text)
    if tree is None:
        raise NotPossibleError("the file cannot be parsed")
    module = module_of(model, place.path)
    for imported in facts.imports:
        if model.place(place.path, imported.span) == place and imported.how in ("import", "from"):
            return _guarded_import(model, module, facts, tree, imported)
    node = expression_at(facts, place)
    if node is None:
        raise NotPossibleError("it is in code that is held in a string, or is a name that another module imports")
    around = ancestors(tree, node)
    for call in around:
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == model.dialect.backend_spec:
            return _requiring(model, facts, call)
    value = node
    if isinstance(around[0], ast.IfExp | ast.BoolOp) and _asks_guard(model, around[0]):
        # A condition that is there, and is the wrong way round.
        value, around = around[0], around[1:]
    is_value = isinstance(around[0], ast.Assign | ast.AnnAssign) and around[0].value is value
    if isinstance(node, ast.Call) and (is_value or isinstance(around[0], ast.arguments)):
        return _guarded_value(model, facts, node, value, _guard(model, module, facts, tree))
    raise NotPossibleError("it runs while the module is loaded, at a place that could not do with None")


def _guarded_import(model: OpsModel, module: str, facts: FileFacts, tree: ast.Module, imported: Import) -> Proposal:
    statement = _statement_at(tree, imported)
    guard = _guard(model, module, facts, tree)
    if statement is None or guard is None:
        raise NotPossibleError("the project has no guard that this module could import")
    around = ancestors(tree, statement)
    uncalled = _uncalled_guard(model, module, facts, around)
    if uncalled is not None:
        return Proposal(Fix("call the guard", safe=True), lambda: (uncalled,))
    bound = [imported.bound] if imported.how == "import" else [one.bound for one in imported.names]
    names = frozenset(filter(None, bound))
    if is_patch(model, model.place(facts.path, imported.span)):
        raise NotPossibleError("the generated file needs the guard as well, which the patch config has to add")
    if around[0] is not tree:
        if any(isinstance(one, _SCOPES) for one in around) and not _only_guarded_uses(model, around, names):
            raise NotPossibleError("the function goes on to use what it imports: what else it is to do is not known")
        if len(statement.names) > 1 and isinstance(statement, ast.Import):
            raise NotPossibleError("the statement imports other modules, too")
        inside = Fix(f"put the import behind `{guard.condition}`", safe=False)
        return Proposal(inside, lambda: _in_place(model, facts, statement, guard))
    uses = import_uses(tree, imported.span, names)
    if uses is None:
        raise NotPossibleError(NOT_PLAIN)
    if _is_for_factories(model, module, uses):
        with suppress(NotPossibleError):
            return deferral(model, module, imported)
    if not _outside_is_guarded(model, tree, uses):
        raise NotPossibleError("what is imported is used without a guard while the module is loaded")
    at_top = Fix(f"put the import behind `{guard.condition}`", safe=True)
    return Proposal(at_top, lambda: _behind_guard(model, facts, uses, guard))


def _statement_at(tree: ast.Module, imported: Import) -> ast.Import | ast.ImportFrom | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
            if start <= imported.span[:2] and imported.span[2:] <= end:
                return node
    return None


def _guard(model: OpsModel, module: str, facts: FileFacts, tree: ast.Module) -> _Guard | None:
    """A guard that the file has already, or the first one of the dialect that some module of the package defines."""
    always = {
        line
        for one in tree.body
        if not hasattr(one, "body") or isinstance(one, ast.FunctionDef)
        for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)
    }
    for binding in facts.bindings:
        if binding.scope == 0 and binding.name in model.dialect.npu_guards and binding.span[0] in always:
            targets = model.symbols.attribute(module, binding.name)
            if targets and all(target.kind in ("scope", "value") for target in targets):
                called = "()" * any(target.kind == "scope" for target in targets)
                return _Guard(binding.name + called, binding.span[2])
    for name in model.dialect.npu_guards:
        for home, _ in model.modules_in(model.package):
            own = [one for one in model.symbols.bindings(home).get(name, ()) if one.kind in ("scope", "assign")]
            if own and not name.startswith("_") and module not in model.loading.closure(home):
                called = "()" * (own[0].kind == "scope")
                return _Guard(name + called, 0, f"from {written_name(model, module, facts, home)} import {name}")
    return None


def written_name(model: OpsModel, module: str, facts: FileFacts, home: str) -> str:
    """The name of another module as the file writes it or would: relative where it imports relatively."""
    for one in facts.imports:
        if one.scope == 0 and one.how == "from" and model.symbols.absolute(module, one) == home:
            return "." * one.level + one.module
    if not any(one.level for one in facts.imports):
        return home
    package = module.split(".") if module in model.symbols.packages else module.split(".")[:-1]
    parts = home.split(".")
    common = 0
    while common < min(len(package), len(parts) - 1) and package[common] == parts[common]:
        common += 1
    if not common:
        return home
    return "." * (len(package) - common + 1) + ".".join(parts[common:])


def _uncalled_guard(model: OpsModel, module: str, facts: FileFacts, around: tuple[ast.AST, ...]) -> Edit | None:
    """A guard that is a function, and is named in a condition but not called."""
    for one in around:
        test = one.test if isinstance(one, ast.If) else None
        if isinstance(test, ast.Name) and test.id in model.dialect.npu_guards:
            targets = model.symbols.attribute(module, test.id)
            if targets and all(target.kind == "scope" for target in targets):
                _, end = extent(facts.text, model.place(facts.path, span_of(test)))
                return Edit(end, end, "()")
    return None


def _only_guarded_uses(model: OpsModel, around: tuple[ast.AST, ...], names: frozenset[str]) -> bool:
    """Whether the innermost function reads what is imported only under a guard."""
    function = next(one for one in around if isinstance(one, _SCOPES))
    reads = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in names]
    root = ast.Module([function] if isinstance(function, ast.stmt) else [], [])
    return all(_is_guarded(model, root, node) for node in reads)


def _outside_is_guarded(model: OpsModel, tree: ast.Module, uses: ImportUses) -> bool:
    return all(_is_guarded(model, tree, node) for node in uses.outside)


def _is_guarded(model: OpsModel, tree: ast.Module, node: ast.AST) -> bool:
    """Whether a use stands in the body of an `if` of which a guard is part."""
    below: ast.AST = node
    for one in ancestors(tree, node):
        if (isinstance(one, ast.If) and below in one.body) or (isinstance(one, ast.IfExp) and below is one.body):
            parts = (
                one.test.values if isinstance(one.test, ast.BoolOp) and isinstance(one.test.op, ast.And) else [one.test]
            )
            tests = [part.func if isinstance(part, ast.Call) else part for part in parts]
            if any(ast.unparse(test).rpartition(".")[2] in model.dialect.npu_guards for test in tests):
                return True
        below = one
    return False


def _is_for_factories(model: OpsModel, module: str, uses: ImportUses) -> bool:
    """Whether what is imported is used by factories of NPU kernels only, and there is a use."""
    npu = {
        (spec.factory.module, spec.factory.qualname)
        for spec in model.registrations.kernel_specs
        if isinstance(spec.factory, Factory) and _is_npu(model, spec.hardware)
    }
    named = [function.name for function, _ in uses.functions]
    return bool(named) and not uses.lambdas and not uses.outside and all((module, name) in npu for name in named)


def _is_npu(model: OpsModel, hardware: object) -> bool:
    return getattr(hardware, "device_type", None) in model.dialect.npu_device_types


def _behind_guard(model: OpsModel, facts: FileFacts, uses: ImportUses, guard: _Guard) -> Iterator[Edit]:
    """Below the imports at the top or, where it stands elsewhere, in its place."""
    from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - libcst is slow to import

    code = code_of(facts.text, model.package)
    found = code.import_at(uses.statement.lineno, uses.statement.col_offset)
    if found is None:
        return
    statement = code.statement_of(*found, uses.alias, every_comment=True)
    indent = code.module.default_indent
    block = f"if {guard.condition}:\n{indent}" + statement.replace("\n", f"\n{indent}") + "\n"
    below = code.behind_imports(uses.statement.lineno)
    at = below if below is not None and guard.line <= facts.text.count("\n", 0, below) else None
    removed = code.without(*found, uses.alias)
    whole_line = uses.alias is None and len(found[0].body) == 1
    if whole_line and not guard.statement and guard.line < uses.statement.lineno and code.ends_imports(found[0]):
        start, end = code.span(found[0])
        yield Edit(start, end, "\n" * (not facts.text[:start].endswith("\n\n")) + block.rstrip("\n"))
    elif at is not None:
        yield removed
        if guard.statement:
            yield code.at_top(guard.statement)
        yield Edit(at, at, f"\n{block}")
    elif guard.line <= uses.statement.lineno and whole_line:
        start, end = code.span(found[0])
        yield Edit(start, end, block.rstrip("\n"))
        if guard.statement:
            yield code.at_top(guard.statement)
    elif guard.line <= uses.statement.lineno:
        # What else the line holds stays above the guarded import.
        yield removed
        if guard.statement:
            yield code.at_top(guard.statement)
        yield Edit(*code.below(found[0]), block)


def _in_place(model: OpsModel, facts: FileFacts, statement: ast.stmt, guard: _Guard) -> Iterator[Edit]:
    from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - as above

    start, end = extent(facts.text, model.place(facts.path, span_of(statement)))
    line = facts.text[facts.text.rfind("\n", 0, start) + 1 : start]
    if line.strip() or guard.line > statement.lineno:
        return
    code = code_of(facts.text, model.package)
    margin = f"\n{line}{code.module.default_indent}"
    yield Edit(start, end, f"if {guard.condition}:{margin}" + facts.text[start:end].replace("\n", margin))
    if guard.statement:
        yield code.at_top(guard.statement)


def _asks_guard(model: OpsModel, node: ast.IfExp | ast.BoolOp) -> bool:
    tests = [node.test] if isinstance(node, ast.IfExp) else node.values
    called = [one.func if isinstance(one, ast.Call) else one for one in tests]
    return any(ast.unparse(one).rpartition(".")[2] in model.dialect.npu_guards for one in called)


def _guarded_value(
    model: OpsModel, facts: FileFacts, node: ast.expr, value: ast.expr, guard: _Guard | None
) -> Proposal:
    """Put a conditional import in the place of *value*, which *node* is or is a part of."""
    if guard is None or guard.line > node.lineno:
        raise NotPossibleError("there is no guard that this module could import, or it comes only later")
    begins, ends = (extent(facts.text, model.place(facts.path, span_of(one))) for one in (value, node))
    text = facts.text[slice(*ends)]

    def edits() -> Iterator[Edit]:
        from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - as above

        yield Edit(*begins, f"{text} if {guard.condition} else None")
        if guard.statement:
            yield code_of(facts.text, model.package).at_top(guard.statement)

    return Proposal(Fix(f"import it if `{guard.condition}`, else take None", safe=False), edits)


def _requiring(model: OpsModel, facts: FileFacts, call: ast.Call) -> Proposal:
    """Let a backend say that it needs the NPU package."""
    package = model.dialect.npu_packages[0]
    for one in call.keywords:
        if one.arg == "requires" and isinstance(one.value, ast.Tuple | ast.List) and one.value.elts:
            _, at = extent(facts.text, model.place(facts.path, span_of(one.value.elts[-1])))
            trailing = facts.text.startswith((",)", ",]"), at)
            also = Edit(at, at + trailing, f', "{package}"')
            return Proposal(Fix(f"require `{package}` as well", safe=False), lambda: (also,))  # noqa: B023 - returned
    if len(call.args) > 1 or any(one.arg in ("requires", None) for one in call.keywords):
        raise NotPossibleError("what the backend requires is not written where it is made")
    _, end = extent(facts.text, model.place(facts.path, span_of(call)))
    inside = facts.text[: end - 1].rstrip()
    addition = f'requires=("{package}",)'
    several = "\n" in facts.text[len(inside) : end - 1]
    if inside.endswith(","):
        margin = inside.rpartition("\n")[2]
        margin = margin[: len(margin) - len(margin.lstrip())]
        edit = Edit(len(inside), len(inside), f"\n{margin}{addition}," if several else f" {addition}")
    else:
        edit = Edit(len(inside), len(inside), f", {addition}")
    return Proposal(Fix(f"say `{addition}`", safe=True), lambda: (edit,))
