"""The entry point of ``opslint`` and ``python -m veomni_opslint``: every way to end is a status and a message."""

from __future__ import annotations

import gc
import os
import sys

from veomni_opslint import __version__
from veomni_opslint.allocator import keep_freed_memory

INTERRUPTED = 130
CANNOT_RUN = 2
_VERSION = ("--version", "-V")


def main(arguments: list[str] | None = None) -> int:
    """Run one command line and answer its exit status: 0 clean, 1 findings, 2 the run could not be made."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments and arguments[0] in _VERSION:
            # Answered before anything else is imported: editors and hooks ask often.
            sys.stdout.write(f"opslint {__version__}\n")
            return 0
        from veomni_opslint.cli import run  # noqa: PLC0415

        return run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever happens, the user gets a line and a status
        from veomni_opslint.cli.failure import report_failure  # noqa: PLC0415

        report_failure(error, verbose="--verbose" in arguments or "-v" in arguments)
        return CANNOT_RUN


def run() -> None:
    """Be the whole process: nothing is collected, and it ends at once instead of freeing object by object."""
    gc.disable()
    if len(sys.argv) < 2 or sys.argv[1] not in _VERSION:
        keep_freed_memory()
    status = main()
    for stream in (sys.stdout, sys.stderr):
        # What could not be written was reported when it was written.
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(status)


if __name__ == "__main__":
    run()
