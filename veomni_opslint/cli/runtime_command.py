"""``opslint runtime``: resolve the registry on this machine."""

from __future__ import annotations

import argparse
import os
import sys

from veomni_opslint.check import Request
from veomni_opslint.cli.output import terminal_columns, wants_colour, write
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Severity
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.rule_loader import Selection
from veomni_opslint.runtime.command import Outcome, examine
from veomni_opslint.runtime.document import render_json
from veomni_opslint.runtime.request import RuntimeOptions
from veomni_opslint.runtime.tables import render_markdown, render_text


def run_runtime(options: argparse.Namespace) -> int:
    """Show what resolves; 1 if something is broken."""
    if os.name != "posix":
        raise RunError("opslint runtime needs a system with fork and process groups, as Linux and macOS have")
    request = Request(
        paths=(options.path,),
        root=options.root,
        config=options.settings,
        selection=Selection(tuple(options.select), tuple(options.ignore)),
        min_severity=Severity.WARNING,
    )
    outcome = examine(request, runtime_options(options), _show_progress if _is_watched() else None)
    presentation = Presentation(
        colour=wants_colour(options.color, to_file=options.output is not None),
        columns=terminal_columns(to_file=options.output is not None),
    )
    write(_rendered(outcome, options.format, presentation), options.output)
    return outcome.report.exit_status(strict=options.strict, exit_zero=options.exit_zero)


def runtime_options(options: argparse.Namespace) -> RuntimeOptions:
    """What the command line says about running the program."""
    defaults = RuntimeOptions()
    return RuntimeOptions(
        python=options.python or defaults.python,
        timeout=options.timeout,
        import_timeout=max(defaults.import_timeout, options.timeout),
        memory=int(options.memory * (1 << 30)),
        jobs=options.jobs or defaults.jobs,
        simulate=options.simulate or "",
    )


def _rendered(outcome: Outcome, output_format: str, presentation: Presentation) -> str:
    if output_format == "text":
        return render_text(outcome.run, outcome.report, presentation)
    if output_format == "markdown":
        return render_markdown(outcome.run, outcome.report)
    if output_format == "json":
        return render_json(outcome.run, outcome.report)
    return FORMATS[output_format](outcome.report, presentation)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _show_progress(what: str, done: int, total: int) -> None:
    count = f"{done}/{total} " if total else ""
    end = "\r\x1b[K" if total and done == total else ""
    sys.stderr.write(f"\r\x1b[K{count}{what}{end}")
    sys.stderr.flush()
