"""One file as it is on disk: its bytes, its text, or the reason why it has none."""

from __future__ import annotations

import codecs
import os
import re
import stat
from functools import lru_cache
from typing import Literal, NamedTuple

MAX_BYTES = 20_000_000

_CODING_LINE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_COMMENT_LINE = re.compile(rb"[ \t\f]*(?:#.*)?")


class SourceProblem(NamedTuple):
    """Why a file has no text, and the line that is to blame where one is. Becomes OPS003."""

    kind: Literal["permission", "missing", "too-large", "encoding", "not-a-file", "io"]
    detail: str
    line: int = 1


class Source(NamedTuple):
    """A Python file; ``path`` is relative to the project root with forward slashes; ``text`` has plain line ends."""

    path: str
    text: str
    problem: SourceProblem | None = None


def read_source(root: str, path: str, max_bytes: int = MAX_BYTES) -> Source:
    """Read *path* (relative to *root*); never raises for a bad file: the problem is in the result."""
    data = read_data(root, path, max_bytes)
    return decode_source(path, data) if isinstance(data, bytes) else Source(path, "", data)


def read_data(root: str, path: str, max_bytes: int = MAX_BYTES) -> bytes | SourceProblem:
    """The content of *path* (relative to *root*), or why it cannot be read."""
    full = os.path.join(root, path)
    try:
        status = os.stat(full)
        if not stat.S_ISREG(status.st_mode):
            # Reading a pipe or a device may never end.
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "neither a file nor a folder"
            return SourceProblem("not-a-file", f"it is {kind}")
        if status.st_size > max_bytes:
            return SourceProblem("too-large", f"{status.st_size} bytes, the limit is {max_bytes}")
        with open(full, "rb") as file:
            return file.read()
    except PermissionError:
        return SourceProblem("permission", "permission denied")
    except FileNotFoundError:
        return SourceProblem("missing", "no such file")
    except OSError as error:
        return SourceProblem("io", error.strerror or str(error))


def decode_source(path: str, data: bytes) -> Source:
    """Decode *data* as Python would: BOM, coding line, UTF-8 by default; any line ending."""
    encoding, line = _declared_encoding(data)
    try:
        text = _decoded(data, encoding)
    except UnicodeDecodeError as error:
        before, byte = error.object[: error.start], error.object[error.start]
        line = len(_plain_line_ends(before.decode("latin-1")).split("\n"))
        return Source(path, "", SourceProblem("encoding", f"byte 0x{byte:02x} is not {encoding}", line))
    except (UnicodeError, LookupError):
        detail = f"it cannot be decoded as {encoding}, which it declares"
        return Source(path, "", SourceProblem("encoding", detail, line))
    return Source(path, _plain_line_ends(text))


@lru_cache(maxsize=1024)
def lines_of(text: str) -> list[str]:
    """The lines of a text, shared by all who ask. Not to be changed."""
    return text.split("\n")


def declared_encoding(data: bytes) -> str:
    """The encoding that *data* is written in, UTF-8 by default."""
    return _declared_encoding(data)[0]


def _decoded(data: bytes, encoding: str) -> str:
    if not data.startswith(codecs.BOM_UTF8):
        return data.decode(encoding)
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        raise LookupError(encoding)
    return data.removeprefix(codecs.BOM_UTF8).decode()


def _declared_encoding(data: bytes) -> tuple[str, int]:
    """The encoding of *data* and the line that declares it."""
    start = data[: data.find(b"\n", data.find(b"\n") + 1) + 1] or data
    if b"coding" in start:
        for index, line in enumerate(start.removeprefix(codecs.BOM_UTF8).splitlines()[:2]):
            declared = _CODING_LINE.match(line)
            if declared is not None:
                return declared[1].decode(), index + 1
            if not _COMMENT_LINE.fullmatch(line):
                break
    return "utf-8", 1


def _plain_line_ends(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
