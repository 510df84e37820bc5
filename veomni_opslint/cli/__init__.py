"""The command line: which command is meant, and running it."""

from __future__ import annotations

from collections.abc import Sequence

from veomni_opslint.cli.parsers import CHECK, COMMANDS, parse


def run(arguments: Sequence[str]) -> int:
    """Run one command line and answer its exit status.

    Raises:
        RunError: the run could not be made.
    """
    from veomni_opslint.cli import commands  # noqa: PLC0415 - help and usage errors need none of the engine

    command, rest = (arguments[0], arguments[1:]) if arguments and arguments[0] in COMMANDS else (CHECK, arguments)
    return commands.RUN[command](parse(command, rest))
