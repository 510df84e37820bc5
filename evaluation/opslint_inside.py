"""Run opslint in this process many times over trees that differ in few files, reading each file only once."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

from evaluation.opslint_child import OpslintFailedError, Reported
from veomni_opslint import analysis
from veomni_opslint.check import Request
from veomni_opslint.check import check as run_check
from veomni_opslint.errors import RunError
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Severity
from veomni_opslint.rule_loader import Selection
from veomni_opslint.settings import Settings
from veomni_opslint.source import Source


def checker(path: str, select: str) -> Callable[[Path], list[Reported]]:
    """A function that gives all findings of *select* at *path* of a tree; its settings must not change.

    Raises (the function does):
        OpslintFailedError: the run could not be made.
    """
    selection = Selection(select=tuple(part for part in select.split(",") if part))
    forget_others = keep_facts()

    def findings_of(root: Path) -> list[Reported]:
        request = Request(paths=(str(root / path),), root=str(root), selection=selection, min_severity=Severity.INFO)
        try:
            found = run_check(request).findings
        except RunError as error:
            raise OpslintFailedError(str(error)) from error
        finally:
            forget_others()
        return [
            Reported(one.place.path, one.place.line, one.code, one.message, str(one.severity), one.fingerprint)
            for one in found
        ]

    return findings_of


def keep_facts() -> Callable[[], None]:
    """Let a run read again only what the run before had not; call what it gives after each run.

    The facts of a file depend on its text alone, so a kept run is the same as a fresh one.
    """
    fresh = analysis._extract  # noqa: SLF001 - no public function does this, and no user needs it
    kept: dict[Source, FileFacts] = {}
    used: dict[Source, FileFacts] = {}

    def extract(source: Source, settings: Settings) -> FileFacts:
        if source not in used:
            used[source] = kept[source] if source in kept else fresh(source, settings)
        return used[source]

    def forget_others() -> None:
        kept.clear()
        kept.update(used)
        used.clear()
        # A run leaves cycles, and the collector is told to leave what it finds alone.
        gc.collect()

    analysis._extract = extract  # noqa: SLF001
    return forget_others
