"""Why a run could not be made: the one exception that ends it with status 2 and a message instead of a traceback."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache


class RunError(Exception):
    """The run could not be made: usage, configuration, or a fault inside opslint. The text is one line for the user."""


class NoPackageError(RunError):
    """There is no package to check where one was looked for."""


class InternalError(RunError):
    """A fault of opslint itself; its cause is shown with ``--verbose``."""


def cause_of(error: BaseException) -> str:
    """An error and where it was raised, in one line."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno})" if frame is not None else ""
    return (f"{type(error).__name__}: {error}".splitlines() or [""])[0] + where


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``"; did you mean `x`?"`` with the known word nearest to *word*, or nothing where none is near."""
    return _nearest(word, tuple(known))


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    # difflib costs a tenth of the start-up time, and only a mistake needs it.
    from difflib import get_close_matches  # noqa: PLC0415

    folded = {name.casefold(): name for name in known}
    matches = get_close_matches(word.casefold(), folded, n=1, cutoff=0.65)
    return f"; did you mean `{folded[matches[0]]}`?" if matches else ""
