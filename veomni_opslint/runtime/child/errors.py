"""Exceptions as data: what was raised, where, and whether a package is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterator

from .watch import Message

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object file")
_FRAMES = 6


def describe_error(error: BaseException) -> Message:
    """The exception with its last frames, those of this package and of the import system left out."""
    frames: list[Message] = [
        {"file": frame.filename, "line": frame.lineno, "function": frame.name, "text": frame.line or ""}
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HERE, "<frozen importlib"))
    ]
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip()
        frames.append({"file": error.filename, "line": error.lineno or 1, "function": "<module>", "text": text})
    message = str(error).strip().partition("\n")[0]
    return {
        "type": type(error).__name__,
        "message": message[:500],
        # Of a long way through other packages, the lines of the program are what its maintainer looks for.
        "frames": [frame for frame in frames[:-_FRAMES] if _is_own(frame["file"])][-_FRAMES:] + frames[-_FRAMES:],
        "memory": isinstance(error, MemoryError),
    }


def missing_package(error: BaseException, package: str, optional: list[str], kernel: str = "") -> str | None:
    """The package that is not installed and that *error* is about, None where it is about something else.

    A module of *package* itself that does not exist is a mistake in the program. An error that names one of the
    *optional* packages, which is not found, is the program's own way to say that it is missing; the name of the
    *kernel*, in quotes, does not name a package.
    """
    for one in _chain(error):
        if isinstance(one, ModuleNotFoundError) and one.name:
            top = one.name.partition(".")[0]
            if top == package.partition(".")[0]:
                return None
            return one.name if is_found(top) else top
        if isinstance(one, (ImportError, OSError)):
            library = _LIBRARY.search(str(one))
            if library is not None:
                return library[1]
        text = str(one).replace(repr(kernel), "").replace("-", "_")
        words = set(re.findall(r"\w+", text))
        named = [name for name in optional if name in words and not is_found(name)]
        if named:
            said = [name for name in named if re.search(rf"\b{name}\W+(?:is|was) (?:not|missing|required)\b", text)]
            return (said or named)[0]
    return None


def is_found(name: str) -> bool:
    """Whether there is a module of that name to import."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError, OSError, RuntimeError):
        return False


def _is_own(file: str) -> bool:
    return file.startswith(os.path.join(sys.path[0], "")) and f"{os.sep}site-packages{os.sep}" not in file


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
