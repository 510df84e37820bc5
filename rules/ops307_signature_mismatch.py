"""A call passes arguments that the function, method, class or kernel it reaches does not take."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.call_sites import Mismatch, mismatches
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    for mismatch in mismatches(model):
        yield rule.finding(mismatch.place, _message(mismatch), _related(model, mismatch))


def _message(mismatch: Mismatch) -> str:
    reached = mismatch.implementation
    called = f"`{mismatch.call.name}(...)`"
    through = f" when it reaches {reached.label}" if reached.label else ""
    return (
        f"{called} raises TypeError{through}: `{mismatch.callee.name}` {mismatch.problem}; "
        "make the call and the definition agree"
    )


def _related(model: OpsModel, mismatch: Mismatch) -> Iterator[Related]:
    callee = mismatch.callee
    path = model.symbols.modules[callee.module].path
    yield Related(model.place(path, callee.scope.span), f"`{callee.name}` is defined here")
    if mismatch.implementation.place is not None:
        yield Related(mismatch.implementation.place, "it is chosen here")
