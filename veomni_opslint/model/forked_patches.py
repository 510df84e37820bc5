"""Patch configs that take some patches from another config and write others anew: do the two still fit together?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Call
from veomni_opslint.model.call_binding import Arguments, Signature, binding_problem
from veomni_opslint.model.call_texts import calls_in
from veomni_opslint.model.callables import keeps_signature
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.patch_plans import PatchPlan, PlannedCode
from veomni_opslint.model.patch_values import Definition
from veomni_opslint.parameters import parameters_of

_MADE = re.compile(r"self\.(\w+) = (\w+)(?:\._from_config)?\(")


Attributes: TypeAlias = dict[tuple[str, str], tuple[str, ...]]
"""By class and attribute of the generated module: the classes whose objects it gives the attribute."""


class Drift(NamedTuple):
    """A patch that ``plan`` writes anew, and a call in a patch that it takes over, which does not fit it."""

    plan: PatchPlan
    fork: PlannedCode
    definition: Definition
    original: Definition | None
    caller: PlannedCode
    caller_path: str
    call: Call
    problem: str


def drifts(model: OpsModel) -> Iterator[Drift]:
    """Every such pair of all patch configs."""
    plans = model.patch_plans
    for plan in plans.values():
        forks = {
            code.target: code
            for code in plan.code
            if code.definition is not None and code.definition.module == plan.module and not code.name_map
        }
        reused = [one for one in plan.code if one.definition is not None and one.definition.module != plan.module]
        if forks and reused:
            originals = _originals(plans, plan, reused)
            attributes = _attributes(model, plan)
            for code in reused:
                yield from _drifts_of(model, plan, code, forks, originals, attributes)


def _originals(
    plans: Mapping[str, PatchPlan], plan: PatchPlan, reused: list[PlannedCode]
) -> dict[str, tuple[Definition, ...]]:
    """What the configs that patches are taken from have for each target."""
    sources = {one.definition.module for one in reused if one.definition is not None}
    found: dict[str, tuple[Definition, ...]] = {}
    for other in plans.values():
        if other is not plan and other.module in sources:
            for code in other.code:
                if code.definition is not None:
                    found[code.target] = (*found.get(code.target, ()), code.definition)
    return found


def _attributes(model: OpsModel, plan: PatchPlan) -> Attributes:
    facts = model.symbols.modules.get(plan.generated)
    found: Attributes = {}
    lines = facts.lines if facts is not None else []
    for scope in facts.scopes if facts is not None else ():
        if scope.kind == "class" and scope.parent == 0:
            for attribute, made in _MADE.findall("\n".join(lines[scope.span[0] - 1 : scope.span[2]])):
                key = (scope.name, attribute)
                found[key] = (*found.get(key, ()), made)
    return found


def _drifts_of(
    model: OpsModel,
    plan: PatchPlan,
    code: PlannedCode,
    forks: Mapping[str, PlannedCode],
    originals: Mapping[str, tuple[Definition, ...]],
    attributes: Attributes,
) -> Iterator[Drift]:
    definition = code.definition
    if definition is None:
        return
    node = definition.node
    text = "\n".join(model.files[definition.path].lines[node.lineno - 1 : node.end_lineno])
    written = calls_in(text, lambda name: any(target in forks for target in _targets(name, code, attributes)))
    if not any(_may_not_fit(name, given, code, forks, attributes) for name, given, _ in written):
        return
    facts = model.deep(definition.module)
    first, last = span_of(node)[:2], span_of(node)[2:]
    inside = {one.index for one in facts.scopes if first <= one.span[:2] and one.span[2:] <= last}
    for call in facts.calls:
        for target in _targets(call.name, code, attributes) if call.scope in inside else ():
            fork = forks[target].definition if target in forks else None
            given = Arguments(call.positional, call.star, call.keywords, call.double_star)
            problem = _problem(fork, given) if fork is not None else ""
            known = originals.get(target, ())
            if fork is not None and problem and not any(_problem(original, given) for original in known):
                original = known[0] if known else None
                yield Drift(plan, forks[target], fork, original, code, definition.path, call, problem)


def _may_not_fit(
    name: str, given: Arguments | None, code: PlannedCode, forks: Mapping[str, PlannedCode], attributes: Attributes
) -> bool:
    """Whether a call of a fork, read off the text, has a problem; only then is the file walked in depth."""
    definitions = [forks[target].definition for target in _targets(name, code, attributes) if target in forks]
    return any(one is not None and (given is None or _problem(one, given) != "") for one in definitions)


def _targets(name: str, code: PlannedCode, attributes: Attributes) -> list[str]:
    """The targets of patches that a name may stand for in a patch."""
    for old, new in code.name_map:
        name = name.replace(old, new)
    root, _, rest = name.partition(".")
    if root not in ("self", "cls"):
        return [name]
    own = code.target.partition(".")[0] if code.kind in ("method", "class") else ""
    attribute, _, method = rest.partition(".")
    return [f"{own}.{rest}", *(f"{made}.{method or 'forward'}" for made in attributes.get((own, attribute), ()))]


def _problem(definition: Definition, given: Arguments) -> str:
    signature = _signature(definition)
    return binding_problem(signature, given) if signature is not None else ""


def _signature(definition: Definition) -> Signature | None:
    node = definition.node
    names = [dotted(one.func if isinstance(one, ast.Call) else one) for one in definition.decorators]
    if not all(keeps_signature(name) for name in names):
        return None
    if isinstance(node, ast.ClassDef):
        made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        return (
            Signature(parameters_of(made[0].args)).given(1) if len(made) == 1 and not made[0].decorator_list else None
        )
    method = bool(node.args.args) and node.args.args[0].arg in ("self", "cls") and "staticmethod" not in names
    return Signature(parameters_of(node.args)).given(int(method))
