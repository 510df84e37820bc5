"""Where the text of a command goes: standard output or a file, with or without colour."""

from __future__ import annotations

import contextlib
import os
import sys

from veomni_opslint.errors import RunError

_FEWEST_COLUMNS = 60


def wants_colour(when: str, *, to_file: bool) -> bool:
    """Whether to colour: as told, or on a terminal unless NO_COLOR says otherwise."""
    if when != "auto":
        return when == "always"
    if to_file or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal()


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def terminal_columns(*, to_file: bool) -> int | None:
    """The columns to lay text out for; None where no terminal shows it."""
    if to_file or not is_terminal():
        return None
    import shutil  # noqa: PLC0415 - slow to import, and pipes and files need it not

    return max(shutil.get_terminal_size().columns, _FEWEST_COLUMNS)


def write(text: str, output: str | None = None) -> None:
    """Write *text* to the file *output*, or to standard output.

    Raises:
        RunError: it cannot be written.
    """
    if output is not None:
        write_file(text, output, f"--output {output}")
        return
    if sys.stdout is None:
        raise RunError("standard output is closed, so the result cannot be shown; `--output FILE` writes it to a file")
    encoding = sys.stdout.encoding or "ascii"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Without this, the interpreter complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise RunError(f"standard output cannot be written: {error.strerror or error}") from None


def write_file(text: str, output: str, called: str) -> None:
    """Replace the file, which messages name as *called*, as a whole, so that a reader never sees half of it.

    Raises:
        RunError: it cannot be written.
    """
    import tempfile  # noqa: PLC0415 - slow to import, and standard output needs it not

    data = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(output) and not os.path.isfile(output):
            # A pipe or a device: it must be written to, not replaced.
            with open(output, "wb") as file:
                file.write(data)
            return
        target = os.path.realpath(output)
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".opslint-")
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, _mode(target))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise RunError(f"{called}: cannot be written: {error.strerror or error}") from None


def _mode(target: str) -> int:
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
