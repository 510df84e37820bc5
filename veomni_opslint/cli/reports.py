"""Which reports are asked for, each in a format and for a file, and writing them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from veomni_opslint.cli.output import terminal_columns, wants_colour, write
from veomni_opslint.errors import RunError
from veomni_opslint.report import Report
from veomni_opslint.reporters import FORMATS, Presentation

FORMAT = "--output-format"
FILE = "--output"


class Target(NamedTuple):
    """One report; without a file it goes to standard output."""

    format: str
    file: str | None


def report_targets(asked: Sequence[tuple[str, str]]) -> tuple[Target, ...]:
    """The reports that the options *asked* for, in their order: each format, and the file that follows it.

    Raises:
        RunError: it cannot be told which file is for which format, or two reports would go to one place.
    """
    formats = [word for option, word in asked if option == FORMAT]
    files = [word for option, word in asked if option == FILE]
    if len(formats) < 2 and len(files) < 2:
        # With one of each there is no doubt, in whatever order they are.
        return (Target((*formats, "text")[0], (*files, None)[0]),)
    targets: list[Target] = []
    for option, word in asked:
        if option == FORMAT:
            targets.append(Target(word, None))
        elif not targets:
            raise RunError(f"{FILE} {word}: which format? of several reports, give each file after its {FORMAT}")
        elif targets[-1].file is not None:
            raise RunError(f"{FILE} {word}: {targets[-1].format} goes to {targets[-1].file}; give a {FORMAT} before it")
        else:
            targets[-1] = Target(targets[-1].format, word)
    _require_different_places(targets)
    return tuple(targets)


def require_one(targets: Sequence[Target], option: str) -> None:
    """End the run where *option*, which shows something else than a report, comes with several reports.

    Raises:
        RunError: it does.
    """
    if len(targets) > 1:
        raise RunError(f"{option} shows one text instead of a report: give {FILE} at most once, and no {FORMAT}")


def require_not_baseline(targets: Iterable[Target], baseline: str | None) -> None:
    """End the run where a report would take the place of the baseline.

    Raises:
        RunError: it would.
    """
    for target in targets:
        if baseline is not None and target.file is not None and _same(target.file, baseline):
            raise RunError(f"{FILE} {target.file}: is the baseline, which the report would replace: give another file")


def write_reports(report: Report, targets: Iterable[Target], options: argparse.Namespace) -> None:
    """Render all reports, and only then write them: first the files, each as a whole, and last standard output.

    Raises:
        RunError: one cannot be written.
    """
    texts = [
        (FORMATS[target.format](report, _presentation(report, target, options)), target.file) for target in targets
    ]
    for text, file in sorted(texts, key=lambda pair: pair[1] is None):
        write(text, file)


def _presentation(report: Report, target: Target, options: argparse.Namespace) -> Presentation:
    to_file = target.file is not None
    return Presentation(
        colour=wants_colour(options.color, to_file=to_file),
        quiet=options.quiet,
        statistics=options.statistics,
        coverage=options.show_coverage,
        columns=terminal_columns(to_file=to_file),
        prefix=place_in_repository(report.root),
        strict=options.strict,
    )


def place_in_repository(root: str) -> str:
    """The path of the project below the repository that holds it, with a slash at its end; empty if they are one."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return "" if folder == root else os.path.relpath(root, folder).replace(os.sep, "/") + "/"


def _require_different_places(targets: Sequence[Target]) -> None:
    for number, target in enumerate(targets):
        for other in targets[:number]:
            if target.file is None and other.file is None:
                raise RunError(
                    f"{other.format} and {target.format} would both go to standard output: give one of them an {FILE}"
                )
            if target.file is not None and other.file is not None and _same(target.file, other.file):
                raise RunError(f"{FILE} {target.file}: is given for {other.format} and for {target.format}")


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
