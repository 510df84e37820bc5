"""One file as it is on disk: its bytes, its text, or the reason why it has none."""

from __future__ import annotations

import io
import os
import tokenize
from dataclasses import dataclass
from typing import Literal

MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Why a file has no text. Becomes OPS003 (or OPS001, for a NUL byte or an undecodable file)."""

    kind: Literal["permission", "missing", "too-large", "encoding", "not-a-file", "io"]
    detail: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file; ``path`` is relative to the project root with forward slashes; ``text`` has plain line ends."""

    path: str
    text: str
    problem: SourceProblem | None = None


def read_source(root: str, path: str, max_bytes: int = MAX_BYTES) -> Source:
    """Read *path* (relative to *root*); never raises for a bad file: the problem is in the result."""
    full = os.path.join(root, path)
    try:
        with open(full, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                return Source(path, "", SourceProblem("too-large", f"{size} bytes, the limit is {max_bytes}"))
            data = file.read()
    except PermissionError:
        return Source(path, "", SourceProblem("permission", "permission denied"))
    except FileNotFoundError:
        return Source(path, "", SourceProblem("missing", "no such file"))
    except IsADirectoryError:
        return Source(path, "", SourceProblem("not-a-file", "it is a folder"))
    except OSError as error:
        return Source(path, "", SourceProblem("io", error.strerror or str(error)))
    return decode_source(path, data)


def decode_source(path: str, data: bytes) -> Source:
    """Decode *data* as Python would: BOM, coding line, UTF-8 by default; any line ending."""
    try:
        text = data.decode("utf-8")
        if b"coding" in data[:400] or text.startswith("\ufeff"):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return _decode_declared(path, data, error)
    except (SyntaxError, LookupError) as error:
        return Source(path, "", SourceProblem("encoding", str(error)))
    return Source(path, _plain_line_ends(text))


def _decode_declared(path: str, data: bytes, error: UnicodeDecodeError) -> Source:
    line = data.count(b"\n", 0, error.start) + 1
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return Source(path, _plain_line_ends(data.decode(encoding)))
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        byte = data[problem.start]
        return Source(path, "", SourceProblem("encoding", f"byte 0x{byte:02x} is not {problem.encoding}", line))
    except (SyntaxError, LookupError) as problem:
        return Source(path, "", SourceProblem("encoding", str(problem), line))


def _plain_line_ends(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
