"""A kernel is registered without a description."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.rule_api import Finding, OpsModel, Related, Rule, Severity, Unknown

from ._words import is_said

rule = Rule.of(__name__, Severity.WARNING)
OPTIONS = {"except-for": ("eager",)}


def check(model: OpsModel) -> Iterator[Finding]:
    allowed = model.options[rule.name]["except-for"]
    for spec in model.registrations.kernel_specs:
        # What cannot be known is silence.
        if isinstance(spec.description, Unknown) or is_said(spec.description):
            continue
        if isinstance(allowed, tuple) and spec.name not in allowed:
            yield rule.finding(
                spec.spec_place,
                f"`{spec.name}` of {spec.op_name}/{spec.variant} has no description, so nobody can tell from the "
                "registry what it needs; add `description=`",
                [Related(spec.place, "it is registered here")],
            )
