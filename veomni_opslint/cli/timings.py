"""The table of ``--timings``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from veomni_opslint.report import Report


def render_timings(report: Report) -> str:
    """The stages in their order, then the rules, the slowest first; milliseconds."""
    rules = sorted(report.timings, key=lambda timing: (-timing[1], timing[0]))
    total = sum(seconds for _, seconds in report.stages)
    lines = (*_table("stage", (*report.stages, ("all stages", total))), *_table("rule", rules))
    return "".join(f"{line}\n" for line in lines)


def _table(title: str, rows: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"{'ms':>10}  {title}"
    for name, seconds in rows:
        yield f"{seconds * 1000:>10.1f}  {name}"
