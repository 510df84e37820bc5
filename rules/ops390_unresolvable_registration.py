"""A registration whose content cannot be known without running the code."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.INFO)


def check(model: OpsModel) -> Iterator[Finding]:
    for unresolved in model.registrations.unresolved:
        yield rule.finding(
            unresolved.place,
            f"what is registered here cannot be known without running it: {unresolved.reason}; rules about the "
            "registry stay silent where it could matter: write out what is registered",
        )
