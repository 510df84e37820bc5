"""The calls of the project that do not bind to what they reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.conditions import FALSE
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Call, Span
from veomni_opslint.findings import Place
from veomni_opslint.model.call_binding import Arguments, binding_problem
from veomni_opslint.model.call_targets import CallSite
from veomni_opslint.model.callables import Known
from veomni_opslint.model.factories import parsed
from veomni_opslint.model.implementations import Implementation
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.replaced_functions import is_replaced

_TYPE_ERRORS = frozenset({"TypeError", "Exception", "BaseException"})


class Mismatch(NamedTuple):
    """A call that does not bind: where to put it right, to what it does not bind, and why."""

    place: Place
    call: Call
    implementation: Implementation
    callee: Known
    problem: str


def call_sites(model: OpsModel, module: str) -> Iterator[CallSite]:
    """The calls by name in a module, and in the blocks that it embeds."""
    facts = model.deep(module)
    for call in facts.calls:
        yield CallSite(module, facts, call, False)
    for block in facts.embedded:
        for call in block.facts.calls if block.facts is not None else ():
            if block.facts is not None:
                yield CallSite(module, block.facts, call, True)


def mismatches(model: OpsModel) -> Iterator[Mismatch]:
    """Every call that certainly does not bind."""
    for module in model.suspect_calls.modules():
        for site in call_sites(model, module):
            yield from _mismatch(model, site)
    for site in model.suspect_calls.indirect:
        yield from _mismatch(model, site)


def _mismatch(model: OpsModel, site: CallSite) -> Iterator[Mismatch]:
    """The first implementation that a call does not bind to."""
    targets, call = model.call_targets, site.call
    if call.expected_to_raise or call.when == FALSE:
        return
    given = Arguments(call.positional, call.star, call.keywords, call.double_star)
    for reached in targets.reached(site):
        problem, callee = _problem(reached, given)
        if callee is None or _foreseen(site) or is_replaced(model, site, callee):
            continue
        if not any(known is None or not binding_problem(known.signature, given) for known in targets.overrides(site)):
            place = model.place(site.facts.path, _span(site, callee, given))
            yield Mismatch(place, call, reached, callee, problem)
            return


def _problem(reached: Implementation, given: Arguments) -> tuple[str, Known | None]:
    """Why none of the possible callees takes the arguments, said of the last one."""
    problem, callee = "", None
    for known in reached.possible:
        problem = binding_problem(known.signature, given) if known is not None else ""
        if not problem:
            return "", None
        callee = known
    return problem, callee


def _span(site: CallSite, callee: Known, given: Arguments) -> Span:
    """The argument that is wrong, or the whole call where one is missing."""
    node = None if site.embedded else _node(site)
    if node is None:
        return site.call.span
    signature = callee.signature
    places = [one for one in signature.parameters if one.kind in ("positional", "normal")]
    if not any(one.kind == "var" for one in signature.parameters):
        excess = node.args[max(len(places) - signature.bound, 0) :]
        if excess and not given.star:
            return span_of(excess[0])
    filled = {one.name for one in places[: signature.bound + given.positional]}
    known = {one.name for one in signature.parameters if one.kind in ("normal", "keyword")} - filled
    takes_any = any(one.kind == "kwvar" for one in signature.parameters)
    for keyword in node.keywords:
        if keyword.arg is not None and (keyword.arg in filled or (keyword.arg not in known and not takes_any)):
            return (
                keyword.lineno,
                keyword.col_offset,
                keyword.end_lineno or keyword.lineno,
                keyword.end_col_offset or 0,
            )
    return site.call.span


def _node(site: CallSite) -> ast.Call | None:
    return _calls_of(site.facts.text).get(site.call.span)


@lru_cache(maxsize=4)
def _calls_of(text: str) -> dict[Span, ast.Call]:
    tree = parsed(text)
    return {span_of(node): node for node in ast.walk(tree) if isinstance(node, ast.Call)} if tree is not None else {}


def _foreseen(site: CallSite) -> bool:
    """Whether the code is prepared for another signature: it catches TypeError, or looks at signatures itself."""
    scope = site.facts.scopes[site.call.scope]
    lines = site.facts.lines
    around = "\n".join(lines[scope.span[0] - 1 : scope.span[2]]) if not site.embedded else site.facts.text
    if "signature(" in around:
        return True
    tree = None if site.embedded else parsed(site.facts.text)
    return any(
        isinstance(node, ast.Try)
        and node.body[0].lineno <= site.call.span[0] <= (node.body[-1].end_lineno or 0)
        and any(_catches_type_error(one) for one in node.handlers)
        for node in (ast.walk(tree) if tree is not None and "except" in around else ())
    )


def _catches_type_error(handler: ast.ExceptHandler) -> bool:
    listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or getattr(one, "id", getattr(one, "attr", "")) in _TYPE_ERRORS for one in listed)
