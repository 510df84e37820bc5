"""Reading files: as Python decodes them, or the reason why not."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veomni_opslint.source import Source, SourceProblem, decode_source, read_source

PATH = "veomni/x.py"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1", "x = 1"),
        ("é = 'ß'\n".encode(), "é = 'ß'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n"),
        (b"\xef\xbb\xbf# coding: UTF_8\nx = 1\n", "# coding: UTF_8\nx = 1\n"),
        (b"# coding: latin-1\n# caf\xe9\n", "# coding: latin-1\n# café\n"),
        (b"# -*- coding: iso-8859-15 -*-\n# \xa4\n", "# -*- coding: iso-8859-15 -*-\n# €\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# \x80\n",
         "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# €\n"),
        (b"# caf\xe9\n# coding: latin-1\n", "# café\n# coding: latin-1\n"),
        (b"\n# coding: latin-1\n# \xe9\n", "\n# coding: latin-1\n# é\n"),
        (b"# " + b"-" * 500 + b"\n# coding: latin-1\n# \xe9\n", "# " + "-" * 500 + "\n# coding: latin-1\n# é\n"),
        (b"# coding: latin-1\r# \xe9\r", "# coding: latin-1\n# é\n"),
        ("x = 1\n# coding: latin-1\n# é\n".encode(), "x = 1\n# coding: latin-1\n# é\n"),
        ("\n\n# coding: latin-1\n# é\n".encode(), "\n\n# coding: latin-1\n# é\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\rb\r", "a\nb\n"),
        (b"a\r\n\rb\n\r", "a\n\nb\n\n"),
        (b"x = 1\0\n", "x = 1\0\n"),
        ("a\x0cb\u2028c\x85d\n".encode(), "a\x0cb\u2028c\x85d\n"),
    ],
)  # fmt: skip
def test_decoded(data: bytes, text: str) -> None:
    """BOM, coding line and line ends are read as Python reads them; nothing else ends a line."""
    assert decode_source(PATH, data) == Source(PATH, text)


@pytest.mark.parametrize(
    ("data", "detail", "line"),
    [
        (b"# caf\xe9\n", "byte 0xe9 is not utf-8", 1),
        (b"x = 1\n\ny = '\xff'\n", "byte 0xff is not utf-8", 3),
        (b"x = 1\r\n\r\ny = '\xff'\r\n", "byte 0xff is not utf-8", 3),
        (b"x = 1\r\ry = '\xff'\r", "byte 0xff is not utf-8", 3),
        (b"\xef\xbb\xbfx = 1\n\xc3(\n", "byte 0xc3 is not utf-8", 2),
        (b"x = 1\n'\xe2\x82", "byte 0xe2 is not utf-8", 2),
        (b"# coding: ascii\nx = '\xe9'\n", "byte 0xe9 is not ascii", 2),
        (b"# coding: cp1252\n\nx = '\x81'\n", "byte 0x81 is not cp1252", 3),
        (b"\xff\xfex\0", "byte 0xff is not utf-8", 1),
        (b"\n# coding: nowhere\n", "it cannot be decoded as nowhere, which it declares", 2),
        (b"# coding: rot13\n", "it cannot be decoded as rot13, which it declares", 1),
        (b"# coding: undefined\n", "it cannot be decoded as undefined, which it declares", 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "it cannot be decoded as latin-1, which it declares", 1),
    ],
)
def test_undecodable(data: bytes, detail: str, line: int) -> None:
    """The problem names the byte or the encoding, and the line that it is in."""
    assert decode_source(PATH, data) == Source(PATH, "", SourceProblem("encoding", detail, line))


@settings(deadline=None, max_examples=300)
@given(
    data=st.lists(
        st.sampled_from(
            [b"\xef\xbb\xbf", b"# coding: latin-1", b"# coding: utf-8", b"#", b"x", b" ", b"\n", b"\r\n", b"\xe9",
             "é".encode(), b"'"]
        ),
        max_size=8,
    ).map(b"".join)
)  # fmt: skip
def test_same_as_python(data: bytes) -> None:
    """What the standard library can decode is decoded to the same text."""
    try:
        expected = importlib.util.decode_source(data)
    except (SyntaxError, UnicodeDecodeError):
        return
    assert decode_source(PATH, data) == Source(PATH, expected)


@settings(deadline=None)
@given(data=st.binary(max_size=80))
def test_random_bytes_never_raise(data: bytes) -> None:
    """Whatever the bytes are, there is a text or a problem of encoding."""
    source = decode_source(PATH, data)
    assert source.problem is None or (source.text, source.problem.kind) == ("", "encoding")


def test_read_from_disk(tmp_path: Path) -> None:
    """The path is relative to the root, and the file's bytes are decoded."""
    (tmp_path / "veomni").mkdir()
    (tmp_path / PATH).write_bytes(b"x = 1\r\n")
    assert read_source(str(tmp_path), PATH) == Source(PATH, "x = 1\n")


@pytest.mark.parametrize(("limit", "problem"), [(5, None), (4, SourceProblem("too-large", "5 bytes, the limit is 4"))])
def test_size_limit(limit: int, problem: SourceProblem | None, tmp_path: Path) -> None:
    """A file may be as large as the limit and no larger."""
    (tmp_path / "x.py").write_bytes(b"x = 1")
    assert read_source(str(tmp_path), "x.py", limit).problem == problem


def test_nothing_to_read(tmp_path: Path) -> None:
    """A file that is gone, a broken link, a link to itself, a folder, and a file taken for a folder have a problem."""
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "file.py").write_text("")
    (tmp_path / "broken.py").symlink_to("nowhere.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    found = {
        name: read_source(str(tmp_path), name)
        for name in ("gone.py", "broken.py", "folder.py", "file.py/x.py", "loop.py")
    }
    problems = {
        "gone.py": SourceProblem("missing", "no such file"),
        "broken.py": SourceProblem("missing", "no such file"),
        "folder.py": SourceProblem("not-a-file", "it is a folder"),
        "file.py/x.py": SourceProblem("io", "Not a directory"),
        "loop.py": SourceProblem("io", "Too many levels of symbolic links"),
    }
    assert found == {name: Source(name, "", problem) for name, problem in problems.items()}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipe_is_not_opened(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would wait for ever."""
    os.mkfifo(tmp_path / "pipe.py")
    problem = SourceProblem("not-a-file", "it is neither a file nor a folder")
    assert read_source(str(tmp_path), "pipe.py") == Source("pipe.py", "", problem)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may read everything")
def test_permission(tmp_path: Path) -> None:
    """A file that may not be read has a problem."""
    file = tmp_path / "x.py"
    file.write_text("")
    file.chmod(0)
    assert read_source(str(tmp_path), "x.py") == Source("x.py", "", SourceProblem("permission", "permission denied"))


def test_refused_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of opening are problems, also for whoever may read everything."""
    (tmp_path / "x.py").write_text("")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert read_source(str(tmp_path), "x.py") == Source("x.py", "", SourceProblem("permission", "permission denied"))
