"""Telling the user why a run could not be made, in a line instead of a traceback."""

from __future__ import annotations

import sys
import traceback

from veomni_opslint.errors import RunError
from veomni_opslint.reporters.style import printable


def report_failure(error: Exception, *, verbose: bool) -> None:
    """Write *error* to standard error; with *verbose* the traceback of an error that is not the user's."""
    if sys.stderr is None:
        return
    cause = error if not isinstance(error, RunError) else error.__cause__
    if verbose and cause is not None:
        traceback.print_exception(cause)
    if isinstance(error, RunError):
        message = str(error)
    else:
        first_line = str(error).partition("\n")[0]
        message = (
            f"internal error: {type(error).__name__}: {first_line}; this is a fault of opslint, "
            "`--verbose` shows where it happened"
        )
    lines = [printable(line) for line in message.split("\n")]
    encoding = sys.stderr.encoding or "ascii"
    text = "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)
    sys.stderr.write(f"opslint: error: {text}\n")
