"""Reading a rebindable pointer when it is called, and not when the module is loaded: the fix of OPS402."""

from __future__ import annotations

import ast
import re

from veomni_opslint.deferral import deferral
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Import, ImportedName
from veomni_opslint.findings import Fix, Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.expression_places import expression_at
from veomni_opslint.model.pointer_owners import owner
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, module_of


def live(model: OpsModel, place: Place) -> Proposal:
    """Move the import at *place* to where the pointer is called or, where it is kept, keep its public op instead.

    Raises:
        NotPossibleError: the pointer has no public op, or what keeps the pointer is not known.
    """
    module = module_of(model, place.path)
    facts = model.module(module)
    for imported in facts.imports:
        for one in imported.names:
            if model.place(place.path, one.span) == place:
                return _import(model, module, imported, one)
    start, end = extent(facts.text, place)
    written = facts.text[start:end]
    node = expression_at(facts, place)
    for name, public in _publics(model):
        if written == name and node is None and (asked_for := model.patch_imports.get(module)) is not None:
            for imported in asked_for.imports:
                source = model.symbols.absolute(asked_for.generated, imported)
                if any(model.place(place.path, one.span) == place for one in imported.names) and _has(
                    model, source, public
                ):
                    return _instead(public, Edit(start, end, f"{public} as {name}"))
        if isinstance(node, ast.Name) and node.id == name:
            if not _is_defined_above(model, module, public, place.line):
                raise NotPossibleError(f"`{public}` is not defined yet where the pointer is kept")
            return _instead(public, Edit(start, end, public))
        if isinstance(node, ast.Attribute) and node.attr == name:
            return _instead(public, Edit(end - len(name), end, public))
        if isinstance(node, ast.Call) and len(node.args) > 1:
            literal = node.args[1]
            at = extent(facts.text, model.place(place.path, span_of(literal)))
            if isinstance(literal, ast.Constant) and literal.value == name:
                return _instead(public, Edit(*at, facts.text[slice(*at)].replace(name, public)))
    if node is None or isinstance(node, ast.Constant):
        raise NotPossibleError(
            "it is asked for by a patch config: the patches that use the name have to change with it"
        )
    raise NotPossibleError("the pointer has no public op that could be kept instead")


def _import(model: OpsModel, module: str, imported: Import, one: ImportedName) -> Proposal:
    try:
        return deferral(model, module, imported, one.bound)
    except NotPossibleError:
        source = model.symbols.absolute(module, imported)
        for name, public in _publics(model):
            pointer = owner(model.symbols, model.rebindable, source, one.name)
            if pointer is not None and pointer[1] == name and _has(model, source, public):
                facts = model.module(module)
                start, end = extent(facts.text, model.place(facts.path, one.span))
                return _instead(public, Edit(start, end, f"{public} as {one.bound}"))
        raise


def _publics(model: OpsModel) -> list[tuple[str, str]]:
    """Pointers, by name, and the functions of their module that call them."""
    return [
        (name, next(one.name for one in known.public if not one.name.startswith("_")))
        for (_, name), known in model.rebindable.items()
        if known is not None and any(not one.name.startswith("_") for one in known.public)
    ]


def _instead(public: str, edit: Edit) -> Proposal:
    return Proposal(Fix(f"take `{public}`, which reads the pointer when it is called", safe=False), lambda: (edit,))


def _has(model: OpsModel, module: str, name: str) -> bool:
    return module in model.symbols.modules and bool(model.symbols.attribute(module, name))


def _is_defined_above(model: OpsModel, module: str, name: str, line: int) -> bool:
    found = re.search(rf"^(?:async )?def {re.escape(name)}\(", model.module(module).text, re.MULTILINE)
    return found is not None and model.module(module).text.count("\n", 0, found.start()) + 1 < line
