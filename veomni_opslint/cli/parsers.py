"""The options of every command. A wrong one is a usage error with the nearest right one."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from veomni_opslint.cli.check_options import REPORT_FORMATS, check_parser
from veomni_opslint.cli.option_types import (
    Parser,
    add_baseline,
    add_colour,
    add_format,
    add_no_baseline,
    add_output,
    add_project,
    add_project_of_job,
    add_verbose,
    comma_separated,
    count,
    device,
    named,
    new_parser,
    positive,
)
from veomni_opslint.errors import did_you_mean

CHECK = "check"
REGISTRY_FORMATS = ("text", "json", "markdown")
BIND_FORMATS = ("text", "json", "markdown")
RUNTIME_FORMATS = (*REGISTRY_FORMATS, *(one for one in REPORT_FORMATS if one not in REGISTRY_FORMATS))
RULES_FORMATS = ("text", "json", "markdown")

_PATH = "the package, or its repository (default: .)"


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
    if command == CHECK and "--" in arguments:
        # What follows is paths; argparse forgets so when options and paths are mixed.
        end = arguments.index("--")
        options = parser.parse_intermixed_args(arguments[:end])
        options.paths = [*options.paths, *arguments[end + 1 :]]
        return options
    return parser.parse_intermixed_args(arguments)


def registry_parser() -> Parser:
    """``opslint registry [PATH]``."""
    parser = new_parser(
        "opslint registry",
        "[PATH]",
        "Show which kernels, ops, slots and config fields the code has, without running it.",
        "examples:\n"
        "  opslint registry veomni/\n"
        "  opslint registry veomni/ --output-format json --output registry.json\n\n"
        "exit status:\n"
        "  0  it is shown\n"
        "  2  the run could not be made\n",
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=_PATH)
    add_format(parser, REGISTRY_FORMATS)
    add_output(parser)
    add_colour(parser)
    add_project(parser)
    add_verbose(parser)
    return parser


def bind_parser() -> Parser:
    """``opslint bind [PATH]``."""
    parser = new_parser(
        "opslint bind",
        "[PATH]",
        "Show which kernel each slot of each model would get for a configuration and a device, or why building the "
        "model would fail. Nothing of the tree is run.",
        "examples:\n"
        "  opslint bind veomni/ --device npu --matrix\n"
        "  opslint bind veomni/ --config configs/text/qwen3.yaml --model qwen3\n\n"
        "exit status:\n"
        "  0  every slot can be bound\n"
        "  1  some cannot\n"
        "  2  the run could not be made\n",
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=_PATH)
    parser.add_argument(
        "--config", type=named("file"), metavar="YAML", help="bind with this file of a job instead of the defaults"
    )
    parser.add_argument(
        "--device",
        default="gpu:90",
        metavar="DEVICE",
        help="gpu:N of that compute capability, npu, or cpu (default: gpu:90)",
    )
    parser.add_argument(
        "--model", type=named("model"), metavar="NAME", help="only this model (default: every model that has a slot)"
    )
    parser.add_argument("--matrix", action="store_true", help="one table, models against ops (text and markdown)")
    add_format(parser, BIND_FORMATS)
    add_output(parser)
    add_colour(parser)
    add_project_of_job(parser)
    add_verbose(parser)
    return parser


def op_parser() -> Parser:
    """``opslint op NAME [PATH]``."""
    parser = new_parser(
        "opslint op",
        "NAME [PATH]",
        "Show everything about one op, and which steps of adding it are done.",
        "example:\n"
        "  opslint op rms_norm\n\n"
        "exit status:\n"
        "  0  the op is shown, whatever is missing or found\n"
        "  2  there is no such op, or the run could not be made\n",
    )
    parser.add_argument("name", metavar="NAME", help="an op (rms_norm) or its config field (rms_norm_implementation)")
    parser.add_argument(
        "path",
        nargs="?",
        default=".",
        metavar="PATH",
        help="the repository with its tests and documents, or the package alone (default: .)",
    )
    add_format(parser, REGISTRY_FORMATS)
    add_output(parser)
    add_colour(parser)
    add_project(parser)
    add_verbose(parser)
    return parser


def runtime_parser() -> Parser:
    """``opslint runtime [PATH]``."""
    parser = new_parser(
        "opslint runtime",
        "[PATH]",
        "Run the program's registry on this machine, each kernel in a process of its own: which kernels resolve, which "
        "need other hardware, which lack a package, which are broken.",
        "examples:\n"
        "  opslint runtime veomni/ --call\n"
        "  torchrun --standalone --nproc-per-node 8 -m veomni_opslint runtime veomni/\n\n"
        "exit status:\n"
        "  0  nothing is broken\n"
        "  1  something is\n"
        "  2  the run could not be made\n",
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help=_PATH)
    _add_program(parser.add_argument_group("the program"))
    group = parser.add_argument_group("rules")
    for name, text in (
        ("--select", "run only these rules, of OPS901 to OPS905"),
        ("--ignore", "do not run these rules"),
    ):
        group.add_argument(name, action="extend", type=comma_separated, default=[], metavar="RULES", help=text)
    accepted = group.add_mutually_exclusive_group()
    add_baseline(accepted)
    add_no_baseline(accepted)
    group = parser.add_argument_group("output")
    add_format(group, RUNTIME_FORMATS)
    add_output(group)
    add_colour(group)
    add_verbose(group)
    group = parser.add_argument_group("exit status")
    group.add_argument("--strict", action="store_true", help="warnings fail the run, too")
    group.add_argument("--exit-zero", action="store_true", help="end with 0 whatever is found")
    add_project_of_job(parser.add_argument_group("project"))
    return parser


def _add_program(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--package",
        type=named("package"),
        metavar="NAME",
        help="run the installed package of this name instead of a path",
    )
    group.add_argument(
        "--python",
        type=named("file"),
        metavar="FILE",
        help="the interpreter that jobs run with (default: the one that runs opslint)",
    )
    group.add_argument(
        "--timeout",
        type=positive,
        default=60.0,
        metavar="SECONDS",
        help="how long resolving one kernel may take (default: 60)",
    )
    group.add_argument(
        "--memory", type=positive, default=16.0, metavar="GIB", help="the memory that it may take (default: 16)"
    )
    group.add_argument("--jobs", type=count, metavar="N", help="how many kernels to resolve at a time")
    group.add_argument(
        "--simulate",
        type=device,
        metavar="DEVICE",
        help="pretend to be gpu:N, npu or cpu, with stand-ins for packages that are not installed",
    )
    group.add_argument(
        "--config", type=named("file"), metavar="YAML", help="bind the slots of the models as a job with this file does"
    )
    group.add_argument("--model", type=named("model"), metavar="NAME", help="bind the slots of this model only")
    group.add_argument(
        "--call",
        action="store_true",
        help="call each kernel with the examples of its op folder, and compare with the definition there",
    )


def rules_parser() -> Parser:
    """``opslint rules``."""
    parser = new_parser(
        "opslint rules",
        "",
        "List every rule: code, name, severity, whether it has a fix, and one line. Rules of the project in this "
        "folder are among them.",
        "exit status:\n  0  they are listed\n  2  a rule of the project cannot be loaded\n",
    )
    add_format(parser, RULES_FORMATS)
    add_output(parser)
    add_colour(parser)
    return parser


def explain_parser() -> Parser:
    """``opslint explain RULE``."""
    parser = new_parser(
        "opslint explain",
        "RULE",
        "Show the page of a rule: what it catches, why, a bad and a good example, how to put it right, when to "
        "suppress it. In a pipe or a file it is the whole page, as Markdown.",
        "examples:\n"
        "  opslint explain OPS301\n"
        "  opslint explain unregistered-slot\n\n"
        "exit status:\n"
        "  0  the page is shown\n"
        "  2  there is no such rule, or a rule of the project cannot be loaded\n",
    )
    parser.add_argument("rule", metavar="RULE", help="a code (OPS301) or a name (unregistered-slot)")
    parser.add_argument(
        "--full", action="store_true", help="on a terminal, too: every example, also those of what is not reported"
    )
    add_output(parser)
    add_colour(parser)
    return parser


COMMANDS: dict[str, Callable[[], Parser]] = {
    CHECK: check_parser,
    "registry": registry_parser,
    "bind": bind_parser,
    "op": op_parser,
    "runtime": runtime_parser,
    "rules": rules_parser,
    "explain": explain_parser,
}
