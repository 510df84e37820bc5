"""The baseline lists a finding that no longer occurs.

Whether an entry is used is known only once every other rule has run, so ``veomni_opslint/gate/apply_baseline.py``
makes these findings, with this ``rule``; ``check`` has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)


def check(model: OpsModel) -> Iterator[Finding]:  # noqa: ARG001 - see above
    yield from ()
