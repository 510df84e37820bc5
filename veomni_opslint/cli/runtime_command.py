"""``opslint runtime``: resolve the registry on this machine."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from veomni_opslint.check import Request
from veomni_opslint.cli.output import terminal_columns, wants_colour, write
from veomni_opslint.cli.package_operand import package_operand
from veomni_opslint.cli.reports import place_in_repository
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Severity
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.rule_loader import Selection
from veomni_opslint.runtime.command import Outcome, examine, require_use
from veomni_opslint.runtime.document import render_json, runtime_document
from veomni_opslint.runtime.launch import installed_package
from veomni_opslint.runtime.rank_report import failed, rank_lines, render_ranks_json
from veomni_opslint.runtime.ranks import Rank, gather, grouped, this_rank
from veomni_opslint.runtime.request import RuntimeOptions
from veomni_opslint.runtime.tables import render_markdown, render_text


def run_runtime(options: argparse.Namespace) -> int:
    """Show what resolves; 1 if something is broken."""
    if os.name != "posix":
        raise RunError("opslint runtime needs a system with fork and process groups, as Linux and macOS have")
    request = Request(
        paths=(_path(options),),
        root=options.root,
        config=options.settings,
        selection=Selection(tuple(options.select), tuple(options.ignore)),
        min_severity=Severity.WARNING,
        baseline=options.baseline,
        baseline_use="none" if options.no_baseline else "apply",
    )
    rank = this_rank()
    if rank is not None:
        return _on_rank(rank, request, options)
    outcome = require_use(examine(request, runtime_options(options), _show_progress if _is_watched() else None))
    presentation = Presentation(
        colour=wants_colour(options.color, to_file=options.output is not None),
        columns=terminal_columns(to_file=options.output is not None),
        prefix=place_in_repository(outcome.report.root),
        strict=options.strict,
    )
    write(_rendered(outcome, options.format, presentation), options.output)
    status = outcome.report.exit_status(strict=options.strict, exit_zero=options.exit_zero)
    unbound = any(one.status not in {"bound", "eager"} for one in outcome.run.bindings)
    return 1 if unbound and not options.exit_zero else status


def _share_of_processors(asked: RuntimeOptions) -> int:
    """How many kernels each of the ranks on this machine resolves at a time."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    beside = int(ranks) if ranks.isdecimal() and int(ranks) else 1
    return max(1, min(asked.jobs, (os.cpu_count() or 1) // beside))


def _path(options: argparse.Namespace) -> str:
    """What to run: the path that is given, or the package of that name that the interpreter finds."""
    if options.package is None:
        return package_operand("." if options.path is None else options.path, takes_job=True)
    if options.path is not None:
        raise RunError("a path and --package: one of them says what to run")
    return installed_package(options.python or RuntimeOptions().python, options.package)


def _on_rank(rank: Rank, request: Request, options: argparse.Namespace) -> int:
    """Every rank looks at its own device; rank 0 alone reports, and answers for all."""
    if options.format not in {"text", "json", "markdown"}:
        raise RunError(f"--output-format {options.format}: of many ranks there are text, json and markdown")
    launcher = os.getppid()
    asked = runtime_options(options)
    asked = replace(asked, device_index=rank.local, jobs=options.jobs or _share_of_processors(asked))
    outcome = None
    try:
        outcome = require_use(examine(request, asked))
        document = runtime_document(outcome.run, outcome.report)
    except RunError as error:
        document = {"failed": str(error)}
    documents = gather(document, asked.python, launcher)
    if documents is None:
        return 0
    groups = grouped(documents)
    if all("failed" in one for one in documents):
        raise RunError("; ".join(f"{group.title}: {group.document['failed']}" for group in groups))
    if options.format == "json":
        text = render_ranks_json(groups)
    else:
        own = _rendered(outcome, options.format, Presentation()) + "\n" if outcome is not None else ""
        text = own + "".join(f"{line}\n" for line in rank_lines(groups, markdown=options.format == "markdown"))
    write(text, options.output)
    return 1 if failed(documents, strict=options.strict) and not options.exit_zero else 0


def runtime_options(options: argparse.Namespace) -> RuntimeOptions:
    """What the command line says about running the program."""
    defaults = RuntimeOptions()
    return RuntimeOptions(
        python=options.python or defaults.python,
        timeout=options.timeout,
        import_timeout=max(defaults.import_timeout, options.timeout),
        memory=int(options.memory * (1 << 30)),
        jobs=options.jobs or defaults.jobs,
        call=options.call,
        job_file=options.config or "",
        model=options.model or "",
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
