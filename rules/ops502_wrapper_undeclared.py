"""A builder accepts, or a caller asks for, a wrapper that the tables do not declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from veomni_opslint.errors import did_you_mean
from veomni_opslint.findings import Finding, Place, Related
from veomni_opslint.model.wrapper_module import OTHER
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel
    from veomni_opslint.model.builder_mentions import Mention
    from veomni_opslint.model.wrapper_builders import Builder
    from veomni_opslint.model.wrapper_callers import Request
    from veomni_opslint.model.wrappers import Element, Table, Wrappers

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    wrappers = model.wrappers
    if wrappers is None:
        return
    eager = model.dialect.eager
    for op in dict.fromkeys(builder.op for builder in wrappers.builders or ()):
        missing = [table for table in _declaring(wrappers) if op not in table.ops]
        if missing:
            yield _undeclared_op(wrappers, op, missing)
        for role in ("implementation", "variant"):
            yield from _accepted(wrappers, op, role, eager)
    for request in wrappers.requests:
        yield from _asked(model, wrappers, request)


def _declaring(wrappers: Wrappers) -> list[Table]:
    return [table for table in (wrappers.implementations, wrappers.variants) if table is not None]


def _undeclared_op(wrappers: Wrappers, op: str, missing: Iterable[Table]) -> Finding:
    names = " and ".join(table.name for table in missing)
    return rule.finding(
        wrappers.builders_of(op)[0].place,
        f"`{op}` has a builder, but {names} does not declare it: asking for its wrapper fails; declare it there, "
        "or remove the builder",
        [Related(table.place, "the table without it") for table in missing],
    )


def _accepted(wrappers: Wrappers, op: str, role: str, eager: str) -> Iterator[Finding]:
    declared = _declared(wrappers, op, role)
    if declared is None:
        return
    names = {one.value for one in declared}
    if role == "implementation" and not _eager_is_declared(wrappers, eager):
        names.add(eager)
    for builder in wrappers.builders_of(op):
        for mention in builder.mentions:
            if mention.role != role or mention.value in names or _declared_for_another(wrappers, builder, op, mention):
                continue
            names.add(mention.value)
            if _accepts(wrappers, op, mention):
                entry = _entry(wrappers, op, role)
                yield rule.finding(
                    mention.place,
                    f"the builder of `{op}` accepts the {role} `{mention.value}`, which the tables do not declare: "
                    "no run can get that wrapper; declare it, or remove it here"
                    f"{did_you_mean(mention.value, sorted(one.value for one in declared))}",
                    [Related(entry, "what is declared")] if entry is not None else (),
                )


def _declared(wrappers: Wrappers, op: str, role: str) -> tuple[Element, ...] | None:
    return wrappers.declared_implementations(op) if role == "implementation" else wrappers.declared_variants(op)


def _eager_is_declared(wrappers: Wrappers, eager: str) -> bool:
    """Tables may leave out eager altogether, which every op has."""
    entries = wrappers.implementations.entries if wrappers.implementations is not None else ()
    return any(element.value == eager for entry in entries for element in entry.elements or ())


def _declared_for_another(wrappers: Wrappers, builder: Builder, op: str, mention: Mention) -> bool:
    """A builder that several ops share names what any of them has."""
    return any(
        mention.value in [one.value for one in _declared(wrappers, other.op, mention.role) or ()]
        for other in wrappers.builders or ()
        if other.op != op and other.definition is not None and other.definition == builder.definition
    )


def _accepts(wrappers: Wrappers, op: str, mention: Mention) -> bool:
    other_role = "variant" if mention.role == "implementation" else "implementation"
    partners = [one.value for one in _declared(wrappers, op, other_role) or ()]
    for result in wrappers.results:
        partner = getattr(result, other_role)
        if result.op != op or getattr(result, mention.role) != mention.value or (partners and partner not in partners):
            continue
        if result.verdict == "accepted":
            return True
        if result.verdict == "unknown":
            pair = (partner, OTHER) if mention.role == "implementation" else (OTHER, partner)
            stranger = wrappers.result(op, *pair)
            if stranger is not None and stranger.verdict == "refused":
                return True
    return False


def _asked(model: OpsModel, wrappers: Wrappers, request: Request) -> Iterator[Finding]:
    ops = {op for table in wrappers.tables for op in table.ops} | {one.op for one in wrappers.builders or ()}
    function = model.dialect.get_wrapper
    if request.op not in ops:
        if ops and not wrappers.unknown:
            yield rule.finding(
                request.op_place,
                f"{function} is asked for `{request.op}`, which no wrapper table has: the call raises; "
                f"the ops with wrappers are {_listed(ops)}{did_you_mean(request.op, sorted(ops))}",
                [Related(wrappers.tables[0].place, "the ops that there are")] if wrappers.tables else (),
            )
        return
    if request.variant is None or request.variant_place is None:
        return
    declared = wrappers.declared_variants(request.op)
    names = {one.value for one in declared or ()}
    if declared is None:
        results = [one for one in wrappers.results if one.op == request.op and one.variant == request.variant]
        if wrappers.unknown or not results or any(one.verdict != "refused" for one in results):
            return
        names = {one.variant for one in wrappers.results if one.op == request.op and one.verdict == "accepted"}
    if request.variant not in names:
        entry = _entry(wrappers, request.op, "variant")
        yield rule.finding(
            request.variant_place,
            f"{function} is asked for the variant `{request.variant}` of `{request.op}`, which is not declared: the "
            f"call raises; the variants are {_listed(names)}{did_you_mean(request.variant, sorted(names))}",
            [Related(entry, "what is declared")] if entry is not None else (),
        )


def _entry(wrappers: Wrappers, op: str, role: str) -> Place | None:
    table = wrappers.variants if role == "variant" and wrappers.variants is not None else wrappers.implementations
    entries = table.of(op) if table is not None else ()
    return entries[0].place if entries else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(names) - {OTHER})) or "none"
