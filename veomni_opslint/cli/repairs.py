"""``--fix``, ``--diff`` and ``--add-ignores``: what they do and say, beside the report of what is left."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from veomni_opslint.check import Request, check
from veomni_opslint.cli.failure import report_doubt, report_not_done
from veomni_opslint.cli.output import write
from veomni_opslint.errors import RunError
from veomni_opslint.fixing.difference import unified_diff
from veomni_opslint.fixing.rounds import Repaired, left_alone, repair
from veomni_opslint.fixing.writing import ChangedFile, NotWritten, write_files
from veomni_opslint.report import Report

if TYPE_CHECKING:
    from veomni_opslint.fixing.ignores import Silenced

_CANNOT_WRITE = 2


def repaired(options: argparse.Namespace, request: Request) -> tuple[Report, int]:
    """Fix, or show what fixing would do; answer what is found on disk afterwards, and a status where work failed.

    Raises:
        RunError: the options do not fit together, or the run could not be made.
    """
    if options.add_ignores is not None:
        return _with_ignores(options, request)
    if not (options.fix or options.diff):
        raise RunError("--unsafe-fixes says which fixes to apply: give --fix or --diff with it")
    if not options.diff and request.stdin_path is not None:
        raise RunError("--fix cannot change standard input; --diff shows what it would change")
    result = repair(request, unsafe=options.unsafe_fixes)
    if options.diff:
        write(unified_diff(result.files), options.output)
        _say(options, "would fix", result, ())
        return check(request), 0
    problems = _written(result.checked.report.root, result.files)
    _say(options, "fixed", result, problems)
    report = check(request) if problems else result.checked.report
    return report, _status(problems)


def _with_ignores(options: argparse.Namespace, request: Request) -> tuple[Report, int]:
    if options.fix or options.unsafe_fixes:
        raise RunError("--fix puts findings right and --add-ignores silences them: run one after the other")
    if not options.diff and request.stdin_path is not None:
        raise RunError("--add-ignores cannot change standard input; --diff shows what it would change")
    from veomni_opslint.fixing.ignores import add_ignores  # noqa: PLC0415 - one run in the life of a project

    result = add_ignores(request, options.add_ignores)
    if options.diff:
        write(unified_diff(result.files), options.output)
        _say_silenced(options, "would silence", result, ())
        return check(request), 0
    problems = _written(result.checked.report.root, result.files)
    _say_silenced(options, "silenced", result, problems)
    report = check(request) if problems else result.checked.report
    return report, _status(problems)


def _say_silenced(options: argparse.Namespace, did: str, result: Silenced, problems: Sequence[NotWritten]) -> None:
    if options.quiet:
        return
    left = result.checked.report
    files = _counted(len(result.files) - len(problems), "file")
    others = f"; {left.baselined} more in the baseline need none" if left.baselined else ""
    report_doubt(f"{did} {_counted(result.number, 'finding')} by comments in {files}{others}")
    if left.findings:
        report_doubt("what is left stands in files that take no comment: use `per-file-ignores` or a baseline")


def _written(root: str, files: Sequence[ChangedFile]) -> tuple[NotWritten, ...]:
    problems = write_files(root, files)
    for problem in problems:
        report_not_done(f"{problem.path}: not changed: {problem.reason}")
    return problems


def _status(problems: Sequence[NotWritten]) -> int:
    return 0 if all(problem.changed_meanwhile for problem in problems) else _CANNOT_WRITE


def _say(options: argparse.Namespace, did: str, result: Repaired, problems: Sequence[NotWritten]) -> None:
    if options.quiet:
        return
    left = {problem.path for problem in problems}
    fixed = sum(number for (_, path), number in result.fixed.items() if path not in left)
    files = {file.path for file in result.files} - left
    report_doubt(f"{did} {_counted(fixed, 'fault')} in {_counted(len(files), 'file')}")
    if result.stale:
        report_doubt(f"generate these files again: {', '.join(result.stale)}")
    for finding, reason in result.refused:
        report_doubt(f"{finding.place}: {finding.code} is left for you: {reason}")
    if options.verbose:
        for finding, reason in left_alone(result):
            report_doubt(f"{finding.place}: {finding.code} has no fix: {reason}")
    unsafe = sum(finding.fix is not None and not finding.fix.safe for finding in result.checked.report.findings)
    if unsafe and not options.unsafe_fixes:
        how = "--diff --unsafe-fixes shows how" if options.diff else "--diff shows how"
        report_doubt(f"{_counted(unsafe, 'more fault')} can be fixed with --unsafe-fixes; {how}")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
