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

    def option_names(self) -> list[str]:
        """Every option, as written."""
        return [name for action in self._actions for name in action.option_strings]


def new_parser(program: str, description: str, epilog: str) -> Parser:
    """The parser of a command."""
    parser = Parser(
        prog=program,
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
    group.add_argument("--config", metavar="FILE", help="take the settings from FILE instead of the project's own")
    group.add_argument("--root", metavar="DIR", help="the project root (default: found above the paths)")


def add_colour(group: argparse._ActionsContainer) -> None:
    """Whether to colour the output."""
    group.add_argument(
        "--color",
        type=choice(COLOURS),
        default="auto",
        metavar="WHEN",
        help="auto (default: on a terminal, unless NO_COLOR is set), always or never",
    )


def add_format(group: argparse._ActionsContainer, name: str, formats: Sequence[str]) -> None:
    """The format of the output; the first of *formats* is the default."""
    shown = f"{', '.join(formats)} (default: {formats[0]})"
    group.add_argument(name, type=choice(formats), default=formats[0], metavar="FORMAT", help=shown)


def choice(options: Sequence[str]) -> Callable[[str], str]:
    """One of these words, or an error with the nearest of them."""

    def one_of(value: str) -> str:
        if value not in options:
            raise argparse.ArgumentTypeError(f"`{value}` is none of {', '.join(options)}{did_you_mean(value, options)}")
        return value

    return one_of


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
