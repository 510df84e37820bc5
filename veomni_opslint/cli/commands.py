"""What each command does with its options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from veomni_opslint import __version__
from veomni_opslint.cli.failure import report_done, report_doubt
from veomni_opslint.cli.output import terminal_columns, wants_colour, write, write_file
from veomni_opslint.cli.package_operand import package_operand
from veomni_opslint.cli.parsers import CHECK, COMMANDS
from veomni_opslint.cli.reports import report_targets, require_not_baseline, require_one, write_reports
from veomni_opslint.cli.timings import render_timings
from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.findings import Severity
from veomni_opslint.own_rules import project_rules, rules_here
from veomni_opslint.report import BaselineChange, BaselineUse, Report
from veomni_opslint.reporters import Presentation
from veomni_opslint.reporters.closing import counted
from veomni_opslint.rule_loader import Selection, find_rule, rule_page
from veomni_opslint.settings import shown_path


def run_check(options: argparse.Namespace) -> int:
    """``opslint check``: report the findings."""
    if options.version:
        write(f"opslint {__version__}\n")
        return 0
    targets = report_targets(options.reports)
    options.output = targets[0].file
    for option in ("--show-schema", "--show-files", "--show-settings", "--diff"):
        if getattr(options, option[2:].replace("-", "_")):
            require_one(targets, option)
    if options.show_schema:
        from veomni_opslint.settings_schema import settings_schema  # noqa: PLC0415

        write(settings_schema(rules_here()), options.output)
        return 0
    paths = tuple(options.paths) or ((options.stdin_filename,) if options.stdin_filename else ())
    if not paths:
        raise RunError("no path was given; `opslint .` checks the project in this folder (see `opslint --help`)")
    if options.show_files or options.show_settings:
        return _show_what_a_run_goes_by(options, paths)
    _refuse_contradictions(options)
    require_not_baseline(targets, options.baseline)
    from veomni_opslint.check import Request, check  # noqa: PLC0415 - the other commands need no engine

    request = Request(
        paths=paths,
        root=options.root,
        config=options.config,
        selection=Selection(tuple(options.select), tuple(options.ignore), tuple(options.extend_select)),
        min_severity=Severity(options.min_severity),
        stdin_path=options.stdin_filename,
        stdin=_standard_input() if options.stdin_filename else b"",
        baseline=options.baseline,
        new_from=options.new_from,
        baseline_use=_baseline_use(options),
        replacements=any(target.format == "sarif" for target in targets),
    )
    status = 0
    try:
        if options.fix or options.diff or options.unsafe_fixes or options.add_ignores is not None:
            from veomni_opslint.cli.repairs import repaired  # noqa: PLC0415 - hardly ever needed

            report, status = repaired(options, request)
        else:
            report = check(request)
    except RunError as error:
        raise _with_command_hint(error, paths) from error.__cause__
    if report.doubt is not None:
        report_doubt(report.doubt)
    if report.baseline_change is not None:
        _change_baseline(report.baseline_change, quiet=options.quiet)
    if options.verbose:
        _say_what_was_done(report)
    if not options.diff:
        write_reports(report, targets, options)
    if options.timings:
        sys.stderr.write(render_timings(report))
    return status or report.exit_status(strict=options.strict, exit_zero=options.exit_zero)


def _refuse_contradictions(options: argparse.Namespace) -> None:
    """Options of which only one can be meant."""
    if options.strict and Severity(options.min_severity) is Severity.ERROR:
        raise RunError("--strict fails the run on warnings, which --min-severity error hides: give one of the two")
    if options.write_baseline and options.stdin_filename:
        raise RunError("--write-baseline is about files on disk, so --stdin-filename does not go with it")
    if options.write_baseline and options.new_from is not None:
        raise RunError("--write-baseline accepts all that is found, --new-from leaves the old out: give one of the two")
    if options.write_baseline and (options.fix or options.unsafe_fixes):
        raise RunError("--write-baseline accepts what --fix would repair: fix first, then accept what is left")
    if options.no_baseline and options.baseline is not None:
        raise RunError("--baseline names what --no-baseline leaves aside: give one of the two")
    if options.diff and (options.write_baseline or options.prune_baseline):
        raise RunError("--diff changes nothing, so no baseline is written with it: leave one of the two out")


def _baseline_use(options: argparse.Namespace) -> BaselineUse:
    if options.no_baseline:
        return "none"
    return "write" if options.write_baseline else "prune" if options.prune_baseline else "apply"


def _show_what_a_run_goes_by(options: argparse.Namespace, paths: tuple[str, ...]) -> int:
    from veomni_opslint.cli.settings_view import render_files, render_settings  # noqa: PLC0415
    from veomni_opslint.discovery import discover  # noqa: PLC0415

    project, settings = discover(paths, root=options.root, config=options.config, stdin_path=options.stdin_filename)
    shown = (
        render_files(project)
        if options.show_files
        else render_settings(project, settings, project_rules(project.root, settings))
    )
    write(shown, options.output)
    return 0


def run_registry(options: argparse.Namespace) -> int:
    """``opslint registry``: show what is registered."""
    from veomni_opslint.analysis import analyse  # noqa: PLC0415
    from veomni_opslint.dialect_check import doubt_about_dialect  # noqa: PLC0415
    from veomni_opslint.discovery import discover  # noqa: PLC0415
    from veomni_opslint.registry_report import FORMATS as REGISTRY_FORMATS  # noqa: PLC0415

    path = package_operand(options.path, takes_job=False)
    project, settings = discover((path,), root=options.root, config=options.config)
    model = analyse(project, settings).model
    doubt = doubt_about_dialect(model, settings)
    if doubt is not None:
        report_doubt(doubt)
    write(REGISTRY_FORMATS[options.format](model, _presentation(options)), options.output)
    return 0


def run_bind(options: argparse.Namespace) -> int:
    """``opslint bind``: show what every slot would get; 1 if some cannot be bound."""
    from veomni_opslint.analysis import analyse  # noqa: PLC0415
    from veomni_opslint.bind.devices import parse_device  # noqa: PLC0415
    from veomni_opslint.bind.document import render_json  # noqa: PLC0415
    from veomni_opslint.bind.job_file import read_job_file  # noqa: PLC0415
    from veomni_opslint.bind.simulation import bind  # noqa: PLC0415
    from veomni_opslint.bind.tables import render_markdown, render_text  # noqa: PLC0415
    from veomni_opslint.discovery import discover  # noqa: PLC0415

    if options.matrix and options.format == "json":
        raise RunError("--matrix is a table for text and markdown; json always holds every slot")
    device = parse_device(options.device)
    path = package_operand(options.path, takes_job=True)
    project, settings = discover((path,), root=options.root, config=options.settings)
    model = analyse(project, settings).model
    name, written, named = read_job_file(model, options.config) if options.config is not None else (None, {}, "")
    result = bind(model, device, written, name, options.model, named)
    if options.format == "json":
        text = render_json(result)
    elif options.format == "markdown":
        text = render_markdown(result, matrix=options.matrix)
    else:
        text = render_text(result, _presentation(options), matrix=options.matrix)
    write(text, options.output)
    return 1 if result.failed else 0


def run_op(options: argparse.Namespace) -> int:
    """``opslint op``: show all about one op."""
    from veomni_opslint.check import Request, checked  # noqa: PLC0415
    from veomni_opslint.op_overview import overview  # noqa: PLC0415
    from veomni_opslint.op_report import FORMATS as OP_FORMATS  # noqa: PLC0415

    path = package_operand(options.path, takes_job=False)
    done = checked(Request((path,), root=options.root, config=options.config))
    model = done.analysis.model
    op = overview(model, options.name, done.report.findings)
    shown = OP_FORMATS[options.format](model, op, _presentation(options))
    write(shown, options.output)
    return 0


def run_runtime(options: argparse.Namespace) -> int:
    """``opslint runtime``: resolve the registry on this machine."""
    from veomni_opslint.cli import runtime_command  # noqa: PLC0415

    return runtime_command.run_runtime(options)


def run_rules(options: argparse.Namespace) -> int:
    """``opslint rules``: list the rules."""
    from veomni_opslint.cli.rule_list import render_rules  # noqa: PLC0415

    write(render_rules(rules_here(), options.format, _presentation(options)), options.output)
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """``opslint explain``: show the page of a rule, as it is or, on a terminal, what a person wants first."""
    from veomni_opslint.cli.page import for_terminal  # noqa: PLC0415

    loaded = find_rule(options.rule, rules_here())
    page = rule_page(loaded)
    presentation = _presentation(options)
    to_terminal = presentation.colour or presentation.columns is not None
    write(for_terminal(page, loaded, presentation, full=options.full) if to_terminal else page, options.output)
    return 0


RUN: dict[str, Callable[[argparse.Namespace], int]] = {
    CHECK: run_check,
    "registry": run_registry,
    "bind": run_bind,
    "op": run_op,
    "runtime": run_runtime,
    "rules": run_rules,
    "explain": run_explain,
}


def _presentation(options: argparse.Namespace) -> Presentation:
    """Laid out for where the output goes."""
    to_file = options.output is not None
    return Presentation(colour=wants_colour(options.color, to_file=to_file), columns=terminal_columns(to_file=to_file))


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise RunError("--stdin-filename: standard input is closed")
    return sys.stdin.buffer.read()


def _with_command_hint(error: RunError, paths: tuple[str, ...]) -> RunError:
    """The default command makes a path of a misspelt command, so a missing first path may be one."""
    message = str(error)
    hint = did_you_mean(paths[0], COMMANDS)
    if not message.startswith(f"{paths[0]}: no such file or folder") or "did you mean" in message or not hint:
        return error
    return type(error)(message + hint.replace("did you mean", "did you mean the command"))


def _change_baseline(change: BaselineChange, *, quiet: bool) -> None:
    name = f"baseline {shown_path(change.path)}"
    if change.text is not None:
        write_file(change.text, change.path, name)
    if not quiet:
        written = "unchanged" if change.text is None else f"{change.added} added, {change.removed} removed"
        report_done(f"{name}: {counted(change.entries, 'accepted finding')} ({written})")


def _say_what_was_done(report: Report) -> None:
    lines = [
        f"root: {report.root}",
        f"package under check: {report.package}",
        f"settings: {report.settings}",
        f"files read: {report.coverage.files}, reported on: {report.files}",
    ]
    sys.stderr.write("\n".join((*lines, "")))
