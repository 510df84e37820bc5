"""Moving an import from the top of a module into the functions that use it: the fix of several rules.

A lambda, or the bare name of a kernel given as ``factory=``, becomes a function that imports and returns the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.findings import Fix
from veomni_opslint.import_uses import ImportUses, import_uses, root_of
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factories import known_factories, parsed
from veomni_opslint.model.factory_places import given_at
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, is_generated

NOT_PLAIN = "it is a star import, or what it binds is bound again, listed in `__all__` or looked up by text"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d]\w*")


def deferral(model: OpsModel, module: str, imported: Import, name: str | None = None) -> Proposal:
    """Move *imported*, or only one *name* that it binds, into what uses it.

    Raises:
        NotPossibleError: something uses it that has to have it while the module is loaded, or may.
    """
    facts = model.module(module)
    if is_generated(model, facts.path):
        raise NotPossibleError("the file is generated: its patch config has to change, or it has to be generated again")
    tree = parsed(facts.text)
    if imported.scope != 0 or tree is None:
        raise NotPossibleError("the import is in a class, which may use it while it is made")
    names = (imported.bound,) if imported.how == "import" else tuple(one.bound for one in imported.names)
    names = (name,) if name is not None else names
    uses = import_uses(tree, imported.span, filter(None, names))
    if uses is None:
        raise NotPossibleError(NOT_PLAIN)
    if uses.compiled:
        raise NotPossibleError("a function that a compiler reads uses it, and such a function cannot import")
    if uses.quoted:
        raise NotPossibleError(
            "an annotation in quotes names it, for which type checkers need an import: under `if TYPE_CHECKING:`"
        )
    for one in uses.names:
        if _used_elsewhere(model, module, one):
            raise NotPossibleError(f"another module takes `{one}` from this one")
    values = _factory_values(model, facts, tree, uses)
    if values is None:
        raise NotPossibleError(
            "it is used while the module is loaded, in a class, a base, a decorator, a default or a call"
        )
    written = _written(uses)
    block = None if uses.statement in tree.body else _block_with(tree, uses.statement)
    if not (uses.functions or values):
        fix = Fix(f"remove `{written}`, which this file does not use", safe=False)
    else:
        reexported = any(one.asname == one.name for one in uses.statement.names)
        fix = Fix(f"move `{written}` to where it is used", safe=not (uses.decorated or reexported or block))
    return Proposal(fix, lambda: _edits(model, facts, uses, values, alone=block is not None and len(block) == 1))


def _block_with(tree: ast.Module, statement: ast.stmt) -> list[ast.stmt]:
    """The block of an `if`, a `try` or another statement that holds this one."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and statement in block:
                return block
    return []


def _written(uses: ImportUses) -> str:
    """The part of the import that is moved."""
    kept = [one for one in uses.statement.names if (one.asname or one.name.partition(".")[0]) in uses.names]
    names = ", ".join(ast.unparse(one) for one in kept)
    if isinstance(uses.statement, ast.Import):
        return f"import {names}"
    return f"from {'.' * uses.statement.level}{uses.statement.module or ''} import {names}"


def _used_elsewhere(model: OpsModel, module: str, name: str) -> bool:
    """Whether another module of the project imports or reads a name of *module*, or seems to."""
    parts = module.split(".")
    endings = "|".join(re.escape(".".join(parts[start:])) for start in range(len(parts)))
    reads = re.compile(rf"(?<![\w.])(?:{endings})[.:]{re.escape(name)}\b")
    for other, facts in model.symbols.modules.items():
        if other == module:
            continue
        if reads.search(facts.text) and not _is_import_of_submodule(model, module, name):
            return True
        if name not in facts.text:
            continue
        for imported in facts.imports:
            named = imported.how == "from" and any(one.name in (name, "*") for one in imported.names)
            if named and model.symbols.absolute(other, imported) == module:
                return True
    return False


def _is_import_of_submodule(model: OpsModel, module: str, name: str) -> bool:
    return f"{module}.{name}" in model.symbols.modules


def _factory_values(
    model: OpsModel, facts: FileFacts, tree: ast.Module, uses: ImportUses
) -> tuple[ast.expr, ...] | None:
    """The lambdas and expressions that become functions; None where a use can be turned into none."""
    if not (uses.lambdas or uses.outside):
        return ()
    bound = set(_inside_scopes(tree))
    if any(ast.unparse(one.args) or id(one) in bound for one in uses.lambdas):
        return None
    given = {
        (place.line, place.column)
        for spec, factory in known_factories(model.registrations)
        if facts.path in (factory.written.path, spec.caller.path)
        for place in (factory.written, given_at(model, spec, factory))
    }
    for value in uses.outside:
        place = model.place(facts.path, span_of(value))
        if (place.line, place.column) not in given or id(value) in bound:
            return None
    return (*uses.lambdas, *uses.outside)


def _inside_scopes(tree: ast.Module) -> Iterator[int]:
    """Nodes in classes and comprehensions, whose names a function at module level does not see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from (id(one) for one in ast.walk(node))


def _edits(
    model: OpsModel, facts: FileFacts, uses: ImportUses, values: tuple[ast.expr, ...], *, alone: bool
) -> Iterator[Edit]:
    """Those of the import, whose block has to hold something where it stands *alone* in it, and of its uses."""
    from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - libcst is slow to import

    code = code_of(facts.text, model.package)
    found = code.import_at(uses.statement.lineno, uses.statement.col_offset)
    if found is None:
        return
    line, small = found
    gone = code.without(line, small, uses.alias, uses.names)
    yield Edit(*code.span(line), "pass") if alone and not gone.text else gone
    for function, names in uses.functions:
        target = code.function(function.lineno, function.col_offset)
        if target is not None:
            yield code.into_function(target, code.statement_of(line, small, uses.alias, names))

    def statement_for(value: ast.expr) -> str:
        return code.statement_of(line, small, uses.alias, {root_of(one) for one in ast.walk(value)})

    yield from new_factories(model, facts, values, statement_for)


def new_factories(
    model: OpsModel, facts: FileFacts, values: Iterable[ast.expr], statement_for: Callable[[ast.expr], str]
) -> Iterator[Edit]:
    """Put a function that imports what a value needs in the place of each value, and define it above."""
    from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - as above

    code = code_of(facts.text, model.package)
    taken = set(_WORD.findall(facts.text))
    added: dict[int, list[str]] = {}
    made: dict[str, str] = {}
    for value in sorted(values, key=lambda value: value.lineno):
        given = value.body if isinstance(value, ast.Lambda) else value
        start, end = extent(facts.text, model.place(facts.path, span_of(given)))
        result = facts.text[start:end]
        if result not in made and (there := factory_there(facts, given)):
            made[result] = there
        if result not in made:
            name = made[result] = _new_name(result, taken)
            taken.add(name)
            returned = f"({result})" if "\n" in result else result
            body = f"{statement_for(given)}\n\nreturn {returned}".split("\n")
            lines = [f"def {name}():", *(f"{code.module.default_indent}{one}" if one else "" for one in body), ""]
            added.setdefault(code.above(value.lineno), []).append("\n".join(lines))
        yield Edit(*extent(facts.text, model.place(facts.path, span_of(value))), made[result])
    for at, functions in added.items():
        above = facts.text[:at]
        blank = len(above) - len(above.rstrip("\n")) - 1
        yield Edit(at, at, "\n" * (max(0, 2 - blank) if above.strip() else 0) + "\n\n".join(functions) + "\n\n")


def factory_there(facts: FileFacts, value: ast.expr) -> str:
    """A function without arguments above *value* that returns the same, and imports at most what the file does."""
    tree = parsed(facts.text)
    if tree is None:
        return ""
    roots = {root_of(one) for one in ast.walk(value)}
    imported = {one for one in _imports_in(tree.body) if one[-1] in roots}
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.lineno > value.lineno or node.decorator_list:
            continue
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        *imports, last = body or [ast.Pass()]
        plain = not ast.unparse(node.args) and all(isinstance(one, ast.Import | ast.ImportFrom) for one in imports)
        if plain and ast.unparse(last) == f"return {ast.unparse(value)}" and set(_imports_in(imports)) <= imported:
            return node.name
    return ""


def _imports_in(block: Iterable[ast.stmt]) -> Iterator[tuple[int, str, str, str]]:
    for node in block:
        if isinstance(node, ast.Import | ast.ImportFrom):
            level, module = (node.level, node.module or "") if isinstance(node, ast.ImportFrom) else (0, "")
            yield from ((level, module, one.name, one.asname or one.name.partition(".")[0]) for one in node.names)


def _new_name(result: str, taken: set[str]) -> str:
    words = [word.lower() for word in _WORD.findall(_HUMP.sub("_", result)) if word != "apply"] or ["kernel"]
    stem = name = f"_{words[-1].strip('_')}_factory"
    number = 2
    while name in taken:
        name = f"{stem}_{number}"
        number += 1
    return name
