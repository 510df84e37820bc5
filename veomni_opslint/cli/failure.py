"""Telling the user why a run could not be made or is in doubt, in a line instead of a traceback."""

from __future__ import annotations

import sys

from veomni_opslint.errors import RunError
from veomni_opslint.reporters.style import printable


def report_failure(error: Exception, *, verbose: bool) -> None:
    """Write *error* to standard error; with *verbose* the traceback of an error that is not the user's."""
    if sys.stderr is None:
        return
    cause = error if not isinstance(error, RunError) else error.__cause__
    if verbose and cause is not None:
        import traceback  # noqa: PLC0415 - slow to import, and few runs fail

        traceback.print_exception(cause)
    if isinstance(error, RunError):
        message = str(error)
    else:
        first_line = str(error).partition("\n")[0]
        message = (
            f"internal error: {type(error).__name__}: {first_line}; this is a fault of opslint, "
            "`--verbose` shows where it happened"
        )
    _say("error", message)


def report_doubt(message: str) -> None:
    """Write to standard error why a run that was made may not mean what it seems to."""
    if sys.stderr is not None:
        _say("note", message)


def report_not_done(message: str) -> None:
    """Write to standard error what part of the work could not be done, while the rest was."""
    if sys.stderr is not None:
        _say("error", message)


def report_done(message: str) -> None:
    """Write to standard error what a run changed beside its report."""
    if sys.stderr is not None:
        _say("done", message)


def _say(kind: str, message: str) -> None:
    lines = [printable(line) for line in message.split("\n")]
    encoding = sys.stderr.encoding or "ascii"
    text = "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)
    sys.stderr.write(f"opslint: {kind}: {text}\n")
