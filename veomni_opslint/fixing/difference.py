"""What would be changed, as a unified diff that `git apply` and `patch -p1` understand."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from veomni_opslint.fixing.writing import ChangedFile
from veomni_opslint.source import declared_encoding


def unified_diff(files: Iterable[ChangedFile]) -> str:
    """The difference of *files*; line ends are as in the files."""
    return "".join(line for file in files for line in _of(file))


def _of(file: ChangedFile) -> Iterator[str]:
    before, after = (data.decode(declared_encoding(file.before)) for data in (file.before, file.after))
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{file.path}", f"b/{file.path}")
    for line in lines:
        yield line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])]
