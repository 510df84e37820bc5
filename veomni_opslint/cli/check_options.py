"""The options of ``opslint check``."""

from __future__ import annotations

import argparse

from veomni_opslint.cli.option_types import (
    Parser,
    add_baseline,
    add_colour,
    add_no_baseline,
    add_project,
    choice,
    comma_separated,
    named,
    new_parser,
)
from veomni_opslint.findings import Severity
from veomni_opslint.reporters import FORMATS

REPORT_FORMATS = tuple(FORMATS)

_DESCRIPTION = """\
Check that a VeOmni source tree keeps to the rules of the ops architecture: how kernels are registered, selected and \
bound. Nothing of the tree is run.

examples:
  opslint veomni/                           the ops package and its models
  opslint .                                 also tasks, tests, docs, job files
  opslint veomni/ops/kernels/rms_norm/      read all of it, report on a folder
  opslint veomni/ --new-from origin/main    only what this branch adds
  opslint . --select OPS1,unbindable-default    some rules

other commands, each with its own --help:
  opslint registry [PATH]   which kernels are registered, and for what
  opslint bind [PATH]       which kernel each slot gets on a device, or why none
  opslint op NAME [PATH]    all about one op, and what is left to do for it
  opslint runtime [PATH]    which kernels really resolve on this machine
  opslint rules             every rule: code, name, severity, one line
  opslint explain RULE      what a rule catches, why, and how to put it right
"""
_STATUS = """\
exit status:
  0  no errors found (with --strict: no warnings either)
  1  there are such findings
  2  the run could not be made

A folder that is called like a command is given as ./registry
"""


def check_parser() -> Parser:
    """``opslint [check] PATH...``."""
    parser = new_parser("opslint", "PATH...", _DESCRIPTION, _STATUS)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders to report on")
    group = parser.add_argument_group("rules")
    for name, text in (
        ("--select", "run only these rules (codes, beginnings of codes, names, or ALL; separated by commas)"),
        ("--ignore", "do not run these rules"),
        ("--extend-select", "run these rules as well"),
    ):
        group.add_argument(name, action="extend", type=comma_separated, default=[], metavar="RULES", help=text)
    _add_gate(parser.add_argument_group("gate"))
    _add_output(parser.add_argument_group("output"))
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="apply the safe fixes, and report what is left")
    group.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the unsafe ones, too")
    group.add_argument("--diff", action="store_true", help="show what would be changed, and change nothing")
    group.add_argument(
        "--add-ignores", metavar="REASON", help="silence what is found now by comments with this reason in the code"
    )
    group = parser.add_argument_group("exit status")
    group.add_argument("--strict", action="store_true", help="warnings fail the run, too")
    group.add_argument("--exit-zero", action="store_true", help="end with 0 whatever is found")
    group = parser.add_argument_group("project")
    add_project(group)
    show = group.add_mutually_exclusive_group()
    show.add_argument("--show-files", action="store_true", help="list the files that would be reported on, and end")
    show.add_argument("--show-settings", action="store_true", help="show every setting with its value, and end")
    show.add_argument("--show-schema", action="store_true", help="show a JSON schema of the settings file, and end")
    group.add_argument(
        "--stdin-filename",
        type=named("file"),
        metavar="PATH",
        help="take the content of PATH from standard input, the rest from disk",
    )
    return parser


def _report_format(value: str) -> tuple[str, str]:
    return "--output-format", choice(REPORT_FORMATS)(value)


def _report_file(value: str) -> tuple[str, str]:
    return "--output", named("file")(value)


def _add_gate(group: argparse._ArgumentGroup) -> None:
    add_baseline(group)
    group.add_argument(
        "--new-from",
        metavar="REV",
        help="show only what is new since a git revision; REV... is where this branch left REV",
    )
    change = group.add_mutually_exclusive_group()
    add_no_baseline(change)
    change.add_argument("--write-baseline", action="store_true", help="accept what is found: write it to the baseline")
    change.add_argument("--prune-baseline", action="store_true", help="remove from the baseline what is gone")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--output-format",
        type=_report_format,
        action="append",
        dest="reports",
        default=[],
        metavar="FORMAT",
        help=f"{', '.join(REPORT_FORMATS)} (default: text; --format is the same); several times for several reports",
    )
    group.add_argument("--format", type=_report_format, action="append", dest="reports", help=argparse.SUPPRESS)
    group.add_argument(
        "--output",
        type=_report_file,
        action="append",
        dest="reports",
        metavar="FILE",
        help="write the report to FILE instead of standard output; of several reports, the one before it",
    )
    group.add_argument(
        "--min-severity",
        type=choice(tuple(map(str, Severity))),
        default=Severity.WARNING,
        metavar="LEVEL",
        help="show findings of this level and above: error, warning (default) or info",
    )
    group.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    group.add_argument("--timings", action="store_true", help="say on standard error how long each stage and rule took")
    group.add_argument("--show-coverage", action="store_true", help="say what could not be known, and why")
    add_colour(group)
    volume = group.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="only the findings, no summary")
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="say what is done; a traceback for internal errors"
    )
