"""Functions that code of the project replaces while it runs, so that a call may reach another one."""

from __future__ import annotations

import re

from veomni_opslint.model.call_targets import CallSite
from veomni_opslint.model.callables import Known
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.symbols import Target

_PATCHING = re.compile(r"\bsetattr\(|\bpatch(?:\.object)?\(")


def is_replaced(model: OpsModel, site: CallSite, callee: Known) -> bool:
    """Whether something assigns to ``module.function`` or ``Class.method``, or a test patches the name."""
    name = callee.scope.name
    text = site.facts.text
    if _PATCHING.search(text) and re.search(rf"""["'](?:[\w.]+\.)?{name}["']""", text):
        return True
    assignment = re.compile(rf"^[ \t]*([A-Za-z_][\w.]*)\.{name} = ", re.MULTILINE)
    for module, facts in model.symbols.modules.items():
        if f".{name} = " not in facts.text:
            continue
        for owner in assignment.findall(facts.text):
            if owner != "self" and any(_holds(one, callee) for one in model.symbols.resolve(module, 0, owner)):
                return True
    return False


def _holds(owner: Target, callee: Known) -> bool:
    if owner.module != callee.module or owner.rest:
        return False
    if owner.kind == "module":
        return callee.scope.parent == 0
    return owner.kind == "scope" and owner.scope == callee.scope.parent
