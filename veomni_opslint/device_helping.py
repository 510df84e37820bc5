"""Asking the project's device helpers instead of naming CUDA: the fix of OPS205."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Fix, Place
from veomni_opslint.guarding import written_name
from veomni_opslint.model import OpsModel
from veomni_opslint.model.expression_places import expression_at
from veomni_opslint.proposals import Edit, Proposal, extent, module_of

_STRINGS = {"cuda": "type", "nccl": "backend"}
_ONLY_CUDA = frozenset({"is_available", "device", "device_count", "is_initialized"})


def helped(model: OpsModel, place: Place, helpers: Mapping[str, str]) -> Proposal | None:
    """Put a helper in the place of a string, or of ``torch.cuda`` in front of a function."""
    facts = model.files[place.path]
    node = expression_at(facts, place)
    start, end = extent(facts.text, place)
    if isinstance(node, ast.Constant) and node.value in _STRINGS:
        helper = helpers.get(_STRINGS[str(node.value)])
    else:
        called = node.func if isinstance(node, ast.Call) else node
        if not isinstance(called, ast.Attribute) or called.attr in _ONLY_CUDA:
            return None
        if ast.unparse(called.value) != "torch.cuda" or not facts.text.startswith("torch.cuda.", start):
            return None
        helper, end = helpers.get("module"), start + len("torch.cuda")
    home = next((home for home, _ in model.modules_in(model.package) if _defines(model, home, helper)), None)
    module = module_of(model, place.path)
    if helper is None or home is None or home == module or module in model.loading.closure(home):
        return None
    known = model.symbols.bindings(module).get(helper)
    statement = "" if known else f"from {written_name(model, module, facts, home)} import {helper}"
    edit = Edit(start, end, f"{helper}()")
    return Proposal(Fix(f"ask `{helper}()`", safe=False), lambda: _edits(model, facts, edit, statement))


def _defines(model: OpsModel, home: str, helper: str | None) -> bool:
    return any(one.kind == "scope" for one in model.symbols.bindings(home).get(helper or "", ()))


def _edits(model: OpsModel, facts: FileFacts, edit: Edit, statement: str) -> Iterator[Edit]:
    yield edit
    if statement:
        from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - libcst is slow to import

        yield code_of(facts.text, model.package).at_top(statement)
