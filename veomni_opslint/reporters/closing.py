"""What stands below the findings of a report that a person reads: statistics, coverage, and the summary."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Severity
from veomni_opslint.report import SEVERITIES, Report
from veomni_opslint.reporters.style import Presentation, printable


def closing_lines(report: Report, presentation: Presentation) -> Iterator[str]:
    """The lines below the findings; none of them when the user wants quiet."""
    if presentation.statistics:
        yield from _statistics(report)
    if presentation.coverage:
        yield from _coverage(report)
    if not presentation.quiet:
        yield presentation.bold(summary(report))


def summary(report: Report) -> str:
    """One sentence: how much was found, in how many of the files, and what is not shown."""
    counts = [counted(report.count(severity), str(severity)) for severity in SEVERITIES if report.count(severity)]
    found = " and ".join(part for part in (", ".join(counts[:-1]), *counts[-1:]) if part) or "no findings"
    aside = []
    if report.suppressed:
        aside.append(f"{report.suppressed} suppressed")
    if report.baselined:
        aside.append(f"{report.baselined} in the baseline")
    if report.not_new:
        aside.append(f"{report.not_new} in {printable(str(report.new_from))} already")
    fixes = [finding.fix.safe for finding in report.findings if finding.fix is not None]
    safe, unsafe = fixes.count(True), fixes.count(False)
    if safe:
        aside.append(f"{safe} fixable with --fix")
    if unsafe:
        aside.append(f"{unsafe} more with --unsafe-fixes" if safe else f"{unsafe} fixable with --fix --unsafe-fixes")
    if report.hidden:
        them = "it" if report.hidden == 1 else "them"
        aside.append(f"{report.hidden} below the level shown; --min-severity info shows {them}")
    asides = f" ({', '.join(aside)})" if aside else ""
    of = f"{report.files_with_findings()} of " if report.findings else ""
    return f"{found} in {of}{counted(report.files, 'file')}{asides}"


def counted(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _statistics(report: Report) -> Iterator[str]:
    names = {finding.code: (finding.name, finding.severity) for finding in report.findings}
    for code, number in sorted(report.by_rule().items(), key=lambda item: (-item[1], item[0])):
        name, severity = names[code]
        yield f"{number:>6}  {code}  {severity:<{len(Severity.WARNING)}}  {name}"
    if report.findings:
        yield ""


def _coverage(report: Report) -> Iterator[str]:
    coverage = report.coverage
    yield (
        f"coverage: {counted(coverage.files, 'file')} read, {coverage.unreadable_files} unreadable; "
        f"{counted(coverage.kernel_specs, 'kernel spec')}, {counted(coverage.op_specs, 'op spec')}, "
        f"{counted(coverage.op_slots, 'op slot')}; {counted(len(coverage.unresolved), 'registration')} unresolved"
    )
    for unresolved in coverage.unresolved:
        yield f"  {printable(str(unresolved.place))}: {printable(unresolved.reason)}"
    yield ""
