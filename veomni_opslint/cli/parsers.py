"""The options of every command. A wrong one is a usage error with the nearest right one."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.findings import Severity

CHECK = "check"
REPORT_FORMATS = ("text", "concise", "json")
REGISTRY_FORMATS = ("text", "json", "markdown")
BIND_FORMATS = ("text", "json", "markdown")
RUNTIME_FORMATS = ("text", "json", "markdown", *(one for one in REPORT_FORMATS if one not in ("text", "json")))
RULES_FORMATS = ("text", "json")
COLOURS = ("auto", "always", "never")

_EXAMPLES = """\
examples:
  opslint veomni/                             check the ops package and its models
  opslint veomni/ops/kernels/rms_norm/        read the whole package, report on one folder
  opslint . --select OPS1,unregistered-slot   the whole repository, some rules
  opslint veomni/ --output-format json --output findings.json

other commands, each with its own --help:
  opslint registry [PATH]   the kernel registry as it is known statically
  opslint bind [PATH]       which kernel each slot would get on a device, and why not
  opslint op NAME           all about one op, and which steps of adding it are done
  opslint runtime [PATH]    which kernels really resolve on this machine
  opslint rules             every rule: code, name, severity, one line
  opslint explain RULE      what a rule catches, why, and how to put it right

exit status: 0 no errors found (with --strict: no warnings either), 1 errors, 2 the run could not be made
A folder that is called like a command is given as ./registry
"""


class _Parser(argparse.ArgumentParser):
    """Reports a usage error like every other error, so that there is one place that prints and one status."""

    def error(self, message: str) -> NoReturn:
        raise RunError(f"{message} (see `{self.prog} --help`)")

    def option_names(self) -> list[str]:
        """Every option, as written."""
        return [name for action in self._actions for name in action.option_strings]


def parse(command: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the *arguments* of *command*.

    Raises:
        RunError: they are not understood.
    """
    parser = COMMANDS[command]()
    # Without this, argparse would say only that a value is missing, or take the option for the value of another.
    known = parser.option_names()
    for argument in arguments:
        if argument == "--":
            break
        name = argument.partition("=")[0]
        if name.startswith("--") and name not in known:
            parser.error(f"unknown option {name}{did_you_mean(name, known)}")
    return parser.parse_intermixed_args(arguments)


def check_parser() -> _Parser:
    """``opslint [check] PATH...``."""
    parser = _parser(
        "opslint", "Check that a VeOmni source tree keeps to the rules of the ops architecture.", _EXAMPLES
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders to report on")
    group = parser.add_argument_group("rules")
    for name, text in (
        ("--select", "run only these rules (codes, beginnings of codes, names, or ALL; separated by commas)"),
        ("--ignore", "do not run these rules"),
        ("--extend-select", "run these rules as well"),
    ):
        group.add_argument(name, action="extend", type=_comma_separated, default=[], metavar="RULES", help=text)
    _add_gate(parser.add_argument_group("gate"))
    group = parser.add_argument_group("output")
    _add_format(group, "--output-format", REPORT_FORMATS)
    group.add_argument("--output", metavar="FILE", help="write the report to FILE instead of standard output")
    group.add_argument(
        "--min-severity",
        type=_choice(tuple(map(str, Severity))),
        default=Severity.WARNING,
        metavar="LEVEL",
        help="show findings of this level and above: error, warning (default) or info",
    )
    group.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    group.add_argument("--timings", action="store_true", help="say on standard error how long each stage and rule took")
    group.add_argument("--show-coverage", action="store_true", help="say what could not be known, and why")
    _add_colour(group)
    volume = group.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="only the findings, no summary")
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="say what is done; a traceback for internal errors"
    )
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
    _add_project(group)
    show = group.add_mutually_exclusive_group()
    show.add_argument("--show-files", action="store_true", help="list the files that would be reported on, and end")
    show.add_argument("--show-settings", action="store_true", help="show every setting with its value, and end")
    show.add_argument("--show-schema", action="store_true", help="show a JSON schema of the settings file, and end")
    group.add_argument(
        "--stdin-filename", metavar="PATH", help="take the content of PATH from standard input, the rest from disk"
    )
    return parser


def registry_parser() -> _Parser:
    """``opslint registry [PATH]``."""
    parser = _parser("opslint registry", "Show the kernel registry as it is known without running the code.", "")
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the package, or its repository (default: .)"
    )
    _add_format(parser, "--format", REGISTRY_FORMATS)
    parser.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
    _add_project(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="a traceback for internal errors")
    return parser


def bind_parser() -> _Parser:
    """``opslint bind [PATH]``."""
    parser = _parser(
        "opslint bind",
        "Show which kernel each slot of each model would get, or why building the model would fail.",
        "exit status: 0 every slot can be bound, 1 some cannot, 2 the run could not be made\n",
    )
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the package, or its repository (default: .)"
    )
    parser.add_argument("--config", metavar="YAML", help="bind with this file of a job instead of the defaults")
    parser.add_argument(
        "--device",
        default="gpu:90",
        metavar="DEVICE",
        help="gpu:N of that compute capability, npu, or cpu (default: gpu:90)",
    )
    parser.add_argument("--model", metavar="NAME", help="only this model (default: every model that has a slot)")
    _add_format(parser, "--format", BIND_FORMATS)
    parser.add_argument("--matrix", action="store_true", help="one table, models against ops (text and markdown)")
    parser.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
    parser.add_argument("--settings", metavar="FILE", help="take opslint's settings from FILE, not the project's own")
    parser.add_argument("--root", metavar="DIR", help="the project root (default: found above PATH)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a traceback for internal errors")
    return parser


def op_parser() -> _Parser:
    """``opslint op NAME [PATH]``."""
    parser = _parser(
        "opslint op",
        "Show everything about one op, and which steps of adding it are done.",
        "example:\n  opslint op rms_norm\n",
    )
    parser.add_argument("name", metavar="NAME", help="an op (rms_norm) or its config field (rms_norm_implementation)")
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the repository, or its package (default: .)"
    )
    _add_format(parser, "--format", REGISTRY_FORMATS)
    parser.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
    _add_project(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="a traceback for internal errors")
    return parser


def runtime_parser() -> _Parser:
    """``opslint runtime [PATH]``."""
    parser = _parser(
        "opslint runtime",
        "Run the program's registry on this machine, each kernel in a process of its own: which kernels resolve, which "
        "need other hardware, which lack a package, which are broken.",
        "many ranks:  torchrun --nproc-per-node 8 -m veomni_opslint runtime veomni/\n"
        "exit status: 0 nothing is broken, 1 something is, 2 the run could not be made\n",
    )
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the package, or its repository (default: .)"
    )
    group = parser.add_argument_group("the program")
    group.add_argument(
        "--python", metavar="FILE", help="the interpreter that jobs run with (default: the one that runs opslint)"
    )
    group.add_argument(
        "--timeout",
        type=_positive,
        default=60.0,
        metavar="SECONDS",
        help="how long resolving one kernel may take (default: 60)",
    )
    group.add_argument(
        "--memory", type=_positive, default=16.0, metavar="GIB", help="the memory that it may take (default: 16)"
    )
    group.add_argument("--jobs", type=_count, metavar="N", help="how many kernels to resolve at a time")
    group.add_argument(
        "--simulate",
        type=_device,
        metavar="DEVICE",
        help="pretend to be gpu:N, npu or cpu, with stand-ins for packages that are not installed",
    )
    group.add_argument("--config", metavar="YAML", help="bind the slots of the models as a job with this file does")
    group.add_argument("--model", metavar="NAME", help="bind the slots of this model only")
    group.add_argument(
        "--call",
        action="store_true",
        help="call each kernel with the examples of its op folder, and compare with the definition there",
    )
    group = parser.add_argument_group("rules")
    for name, text in (
        ("--select", "run only these rules, of OPS901 to OPS905"),
        ("--ignore", "leave out these rules"),
    ):
        group.add_argument(name, action="extend", type=_comma_separated, default=[], metavar="RULES", help=text)
    group = parser.add_argument_group("output")
    _add_format(group, "--format", RUNTIME_FORMATS)
    group.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
    _add_colour(group)
    group.add_argument("--baseline", metavar="FILE", help="do not show the findings that FILE accepts")
    group.add_argument("--strict", action="store_true", help="warnings fail the run, too")
    group.add_argument("--exit-zero", action="store_true", help="end with 0 whatever is found")
    parser.add_argument("--settings", metavar="FILE", help="take opslint's settings from FILE, not the project's own")
    parser.add_argument("--root", metavar="DIR", help="the project root (default: found above PATH)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a traceback for internal errors")
    return parser


def rules_parser() -> _Parser:
    """``opslint rules``."""
    parser = _parser("opslint rules", "List every rule: code, name, severity, whether it has a fix, and one line.", "")
    _add_format(parser, "--format", RULES_FORMATS)
    _add_colour(parser)
    return parser


def explain_parser() -> _Parser:
    """``opslint explain RULE``."""
    parser = _parser("opslint explain", "Show the page of a rule.", "example:\n  opslint explain unregistered-slot\n")
    parser.add_argument("rule", metavar="RULE", help="a code (OPS301) or a name (unregistered-slot)")
    _add_colour(parser)
    return parser


COMMANDS: dict[str, Callable[[], _Parser]] = {
    CHECK: check_parser,
    "registry": registry_parser,
    "bind": bind_parser,
    "op": op_parser,
    "runtime": runtime_parser,
    "rules": rules_parser,
    "explain": explain_parser,
}


def _parser(program: str, description: str, epilog: str) -> _Parser:
    parser = _Parser(
        prog=program,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if program == "opslint":
        parser.add_argument("-V", "--version", action="store_true", help="show the version and end")
    return parser


def _add_gate(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--baseline", metavar="FILE", help="do not show the findings that FILE accepts")
    group.add_argument(
        "--new-from",
        metavar="REV",
        help="show only what is new since a git revision; REV... is where this branch left REV",
    )
    change = group.add_mutually_exclusive_group()
    change.add_argument("--write-baseline", action="store_true", help="accept what is found: write it to the baseline")
    change.add_argument("--prune-baseline", action="store_true", help="remove from the baseline what is gone")


def _add_project(group: argparse._ActionsContainer) -> None:
    group.add_argument("--config", metavar="FILE", help="take the settings from FILE instead of the project's own")
    group.add_argument("--root", metavar="DIR", help="the project root (default: found above the paths)")


def _add_colour(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--color",
        type=_choice(COLOURS),
        default="auto",
        metavar="WHEN",
        help="auto (default: on a terminal, unless NO_COLOR is set), always or never",
    )


def _add_format(group: argparse._ActionsContainer, name: str, formats: Sequence[str]) -> None:
    shown = f"{', '.join(formats)} (default: {formats[0]})"
    group.add_argument(name, type=_choice(formats), default=formats[0], metavar="FORMAT", help=shown)


def _choice(options: Sequence[str]) -> Callable[[str], str]:
    def one_of(value: str) -> str:
        if value not in options:
            raise argparse.ArgumentTypeError(f"`{value}` is none of {', '.join(options)}{did_you_mean(value, options)}")
        return value

    return one_of


def _positive(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"`{value}` is no number above 0")
    return number


def _count(value: str) -> int:
    if not value.isdecimal() or int(value) == 0:
        raise argparse.ArgumentTypeError(f"`{value}` is no number from 1 up")
    return int(value)


def _device(value: str) -> str:
    from veomni_opslint.bind.devices import parse_device  # noqa: PLC0415 - only who pretends needs it

    try:
        return str(parse_device(value))
    except RunError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("--device ")) from None


def _comma_separated(value: str) -> Iterable[str]:
    words = [word.strip() for word in value.split(",") if word.strip()]
    if not words:
        raise argparse.ArgumentTypeError("names no rule")
    return words
