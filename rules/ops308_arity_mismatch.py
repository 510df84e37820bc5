"""A caller unpacks N values from something that returns another number."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.unpacked_calls import UnpackedCalls, WrongLength
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    for wrong in UnpackedCalls.of(model).wrong():
        yield rule.finding(wrong.place, _message(wrong), _related(model, wrong))


def _message(wrong: WrongLength) -> str:
    reached = wrong.implementation
    through = f" when it reaches {reached.label}" if reached.label else ""
    returned = " or ".join(str(length) for length in wrong.returned)
    names = f"{wrong.names} names{' and a starred one' if wrong.more else ''}"
    return (
        f"unpacking `{wrong.name}(...)` into {names} raises ValueError{through}: `{wrong.callee.name}` "
        f"returns {returned} values; make the names and the returned values agree"
    )


def _related(model: OpsModel, wrong: WrongLength) -> Iterator[Related]:
    path = model.symbols.modules[wrong.callee.module].path
    yield Related(model.place(path, wrong.callee.scope.span), f"`{wrong.callee.name}` is defined here")
    if wrong.implementation.place is not None:
        yield Related(wrong.implementation.place, "it is chosen here")
