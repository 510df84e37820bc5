"""What the options of all commands are made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from veomni_opslint.errors import RunError, did_you_mean

COLOURS = ("auto", "always", "never")


class Parser(argparse.ArgumentParser):
    """Reports a usage error like every other error, so that there is one place that prints and one status."""

    def error(self, message: str) -> NoReturn:
        raise RunError(f"{message} (see `{self.prog} --help`)")

    def format_help(self) -> str:
        """The help, its description in lines of a terminal; a line of that which is indented is laid out already."""
        from textwrap import fill  # noqa: PLC0415 - only help needs it

        lines = (self.description or "").split("\n")
        self.description = "\n".join(line if line.startswith(" ") else fill(line, 79) for line in lines)
        return super().format_help()

    def option_names(self) -> list[str]:
        """Every option, as written."""
        return [name for action in self._actions for name in action.option_strings]


def new_parser(program: str, operands: str, description: str, epilog: str) -> Parser:
    """The parser of a command; *operands* are what its usage names beside the options."""
    parser = Parser(
        prog=program,
        usage=f"%(prog)s [OPTIONS] {operands}".rstrip(),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if program == "opslint":
        parser.add_argument("-V", "--version", action="store_true", help="show the version and end")
    return parser


def add_project(group: argparse._ActionsContainer) -> None:
    """Where the project and its settings are."""
    told = "take opslint's settings from FILE instead of the project's own"
    group.add_argument("--config", type=named("file"), metavar="FILE", help=f"{told} (--settings is the same)")
    _also(group, "--settings", "config", type=named("file"))
    add_root(group)


def add_project_of_job(group: argparse._ActionsContainer) -> None:
    """The same for a command whose ``--config`` is the file of a job."""
    group.add_argument(
        "--settings",
        type=named("file"),
        metavar="FILE",
        help="take opslint's settings from FILE instead of the project's own",
    )
    add_root(group)


def add_root(group: argparse._ActionsContainer) -> None:
    """Where the project is."""
    group.add_argument(
        "--root", type=named("folder"), metavar="DIR", help="the project root (default: found above PATH)"
    )


def add_output(group: argparse._ActionsContainer) -> None:
    """Where the output goes."""
    group.add_argument("--output", type=named("file"), metavar="FILE", help="write to FILE instead of standard output")


def add_baseline(group: argparse._ActionsContainer) -> None:
    """What is accepted already."""
    group.add_argument(
        "--baseline", type=named("file"), metavar="FILE", help="do not show the findings that FILE accepts"
    )


def add_no_baseline(group: argparse._ActionsContainer) -> None:
    """That nothing is."""
    group.add_argument(
        "--no-baseline", action="store_true", help="show everything, also what the `baseline` of the settings accepts"
    )


def add_verbose(group: argparse._ActionsContainer) -> None:
    """Whether an internal error shows where it happened."""
    group.add_argument("-v", "--verbose", action="store_true", help="a traceback for internal errors")


def add_colour(group: argparse._ActionsContainer) -> None:
    """Whether to colour the output."""
    group.add_argument(
        "--color",
        type=choice(COLOURS),
        default="auto",
        metavar="WHEN",
        help="auto (default: on a terminal, unless NO_COLOR is set), always or never",
    )


def add_format(group: argparse._ActionsContainer, formats: Sequence[str]) -> None:
    """The format of the output; the first of *formats* is the default."""
    shown = f"{', '.join(formats)} (default: {formats[0]}; --format is the same)"
    group.add_argument(
        "--output-format", dest="format", type=choice(formats), default=formats[0], metavar="FORMAT", help=shown
    )
    _also(group, "--format", "format", type=choice(formats))


def _also(
    group: argparse._ActionsContainer,
    name: str,
    dest: str,
    type: Callable[[str], str],  # noqa: A002
) -> None:
    """Another name of the option that sets *dest*, which the help does not list a second time."""
    group.add_argument(name, dest=dest, type=type, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def choice(options: Sequence[str]) -> Callable[[str], str]:
    """One of these words, or an error with the nearest of them."""

    def one_of(value: str) -> str:
        if value not in options:
            raise argparse.ArgumentTypeError(f"`{value}` is none of {', '.join(options)}{did_you_mean(value, options)}")
        return value

    return one_of


def named(what: str) -> Callable[[str], str]:
    """The name of a *what*, which is not empty: a variable of a script that was never set is no choice of anything."""

    def not_empty(value: str) -> str:
        if not value:
            raise argparse.ArgumentTypeError(f"names no {what}")
        return value

    return not_empty


def positive(value: str) -> float:
    """A number above 0."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"`{value}` is no number above 0")
    return number


def count(value: str) -> int:
    """A whole number from 1 up."""
    if not value.isdecimal() or int(value) == 0:
        raise argparse.ArgumentTypeError(f"`{value}` is no number from 1 up")
    return int(value)


def device(value: str) -> str:
    """A device, as ``opslint bind`` takes it."""
    from veomni_opslint.bind.devices import parse_device  # noqa: PLC0415 - only who pretends needs it

    try:
        return str(parse_device(value))
    except RunError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("--device ")) from None


def comma_separated(value: str) -> Iterable[str]:
    """Words between commas, at least one."""
    words = [word.strip() for word in value.split(",") if word.strip()]
    if not words:
        raise argparse.ArgumentTypeError("names no rule")
    return words
