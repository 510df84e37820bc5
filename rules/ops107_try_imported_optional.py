"""An optional dependency is imported inside `try`: present, every import of the ops package loads it."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

from .ops101_eager_optional_import import chain_of, place_of_step

rule = Rule.of(__name__, Severity.INFO)


def check(model: OpsModel) -> Iterator[Finding]:
    if model.ops_package not in model.symbols.modules:
        return
    for fault in model.eager_imports.tried(model.ops_package):
        message = (
            f"`import {fault.root}` loads {fault.package} wherever it is installed, though nothing may select a kernel "
            "that needs it; absent it does no harm, but present it costs start-up time and a broken installation "
            "can fail the import: defer it to the function that uses it"
        )
        yield rule.finding(place_of_step(model, fault.step), message, chain_of(model, fault.chain))
