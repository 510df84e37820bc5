"""Odd files, folders and names, and odd surroundings of the process itself."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evaluation.survive.case import ODD, PACKAGE, Build, Case, Expectation, write, written

KERNELS = f"{PACKAGE}/ops/kernels"
FAULT = "def (:\n"
USER = 65534
DROP = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")


def cases() -> Iterator[Case]:
    """One case for each oddity."""
    yield from _links()
    yield from _kinds()
    yield from _permissions()
    yield from _names()
    yield from _surroundings()
    yield from _settings()


def _replaced(make: Callable[[str], object]) -> Build:
    """A project where the odd file is what *make* makes of its path."""

    def build(root: Path) -> None:
        (root / ODD).unlink()
        make(str(root / ODD))

    return build


def _links() -> Iterator[Case]:
    def to_parent(root: Path) -> None:
        (root / KERNELS / "again").symlink_to("..")

    def to_each_other(root: Path) -> None:
        for one, other in (("left", "right"), ("right", "left")):
            (root / KERNELS / one).mkdir()
            (root / KERNELS / one / "over").symlink_to(f"../{other}")

    def to_root(root: Path) -> None:
        (root / KERNELS / "everything").symlink_to("/")

    yield Case("folder linked to itself", lambda root: (root / KERNELS / "self").symlink_to("self"))
    yield Case("folder linked to its parent", to_parent)
    yield Case("folders linked to each other", to_each_other)
    yield Case("folder linked to the whole disk", to_root)
    yield Case("file linked to itself", _replaced(lambda path: os.symlink("odd.py", path)), "any")
    yield Case("dangling link", _replaced(lambda path: os.symlink("gone.py", path)), "any")
    yield Case("file linked to another", _replaced(lambda path: os.symlink("plain.py", path)), "quiet")
    yield Case("package linked to itself", lambda root: (root / PACKAGE / PACKAGE).symlink_to("."))


def _kinds() -> Iterator[Case]:
    def bound(path: str) -> None:
        # The name of a socket may be too long for the kernel, so it is made by its short name.
        with socket.socket(socket.AF_UNIX) as made:
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                made.bind(f"/proc/self/fd/{folder}/odd.py")
            finally:
                os.close(folder)

    yield Case("folder with the name of a file", _replaced(os.mkdir), "any")
    yield Case("pipe", _replaced(os.mkfifo), "any")
    yield Case(
        "pipe named on the command line", _replaced(os.mkfifo), arguments=(f"{{root}}/{ODD}", "--root", "{root}")
    )
    yield Case("socket", _replaced(bound), "any", needs=lambda _: "" if os.path.isdir("/proc/self/fd") else "no /proc")
    yield Case("link to an endless device", _replaced(lambda path: os.symlink("/dev/zero", path)), "any")
    yield Case("link to an empty device", _replaced(lambda path: os.symlink("/dev/null", path)), "any")
    yield Case("link to the terminal", _replaced(lambda path: os.symlink("/dev/tty", path)), "any")
    yield Case("link to a file of the kernel", _replaced(lambda path: os.symlink("/proc/self/mem", path)), "any")


def _permissions() -> Iterator[Case]:
    def hidden_file(root: Path) -> None:
        write(root, ODD, FAULT)
        os.chmod(root / ODD, 0)
        _give_away(root)

    def hidden_folder(root: Path) -> None:
        write(root, f"{KERNELS}/hidden/__init__.py", FAULT)
        os.chmod(root / KERNELS / "hidden", 0)
        _give_away(root)

    def listed_folder(root: Path) -> None:
        write(root, f"{KERNELS}/listed/__init__.py", FAULT)
        os.chmod(root / KERNELS / "listed", 0o444)
        _give_away(root)

    def nothing_readable(root: Path) -> None:
        _give_away(root)
        os.chmod(root / PACKAGE, 0)

    prefix = DROP if os.geteuid() == 0 else ()
    table: tuple[tuple[str, Build, Expectation], ...] = (
        ("unreadable file", hidden_file, "finding"),
        ("unreadable folder", hidden_folder, "any"),
        ("folder that can only be listed", listed_folder, "any"),
        ("unreadable package", nothing_readable, "message"),
    )
    for name, build, expects in table:
        yield Case(name, build, expects, prefix=prefix, needs=_cannot_drop)


def _names() -> Iterator[Case]:
    for name, file in (
        ("space", "a kernel.py"),
        ("line end", "two\nlines.py"),
        ("quotes", '"it\'s".py'),
        ("leading dash", "-kernel.py"),
        ("percent and braces", "%s{0}$HOME.py"),
        ("escape sequence", "\x1b[31mred.py"),
        ("other script", "核心.py"),
        ("combining character", "e\u0301.py"),
        ("right-to-left mark", "\u202eyp.py"),
        ("invalid bytes", "\udcff\udcfe.py"),
        ("no letters", "....py"),
        ("only the ending", ".py"),
        ("colon and star", "a:b*c?.py"),
        ("backslash", "a\\b.py"),
        ("longest name", "n" * 250 + ".py"),
    ):
        path = f"{KERNELS}/{file}"
        expects: Expectation = "any" if file in ("....py", ".py") or "\udcff" in file else "finding"
        yield Case(f"name with {name}", written(path, FAULT), expects, path)

    deep = "/".join(["d"] * 300)
    yield Case(
        "300 folders deep",
        written(f"{KERNELS}/{deep}/x.py", FAULT),
        "finding",
        f"{KERNELS}/{deep}/x.py",
    )
    yield Case("folder with invalid bytes", written(f"{KERNELS}/\udcff/x.py", FAULT))


def _surroundings() -> Iterator[Case]:
    def faulty(root: Path) -> None:
        write(root, ODD, FAULT)
        write(root, f"{KERNELS}/größe.py", FAULT)

    shell = ("sh", "-c")
    root_arguments = (f"{{root}}/{PACKAGE}", "--root", "{root}")
    yield Case("no environment", faulty, "finding", prefix=("env", "-i"))
    yield Case(
        "ASCII locale", faulty, "finding", environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    )
    yield Case("no home", faulty, "finding", environment={"HOME": "/nonexistent"})
    yield Case("terminal without columns", faulty, "finding", environment={"COLUMNS": "0", "TERM": "dumb"})
    yield Case("input closed", faulty, "finding", prefix=(*shell, 'exec "$@" <&-', "sh"))
    yield Case("output closed", faulty, "nothing", prefix=(*shell, 'exec "$@" >&-', "sh"))
    yield Case("errors closed", faulty, "finding", prefix=(*shell, 'exec "$@" 2>&-', "sh"))
    yield Case("output to a full disk", faulty, "message", prefix=(*shell, 'exec "$@" >/dev/full', "sh"))
    yield Case("reader gone", faulty, "nothing", prefix=(*shell, '"$@" | true; exit 0', "sh"), arguments=root_arguments)
    yield Case(
        "working folder gone",
        faulty,
        "finding",
        prefix=(*shell, 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$@"', "sh"),
    )
    yield Case("few open files", faulty, "finding", prefix=(*shell, 'ulimit -n 16; exec "$@"', "sh"))
    yield Case("no such path", faulty, "message", arguments=("{root}/nothing", "--root", "{root}"))
    yield Case("no such root", faulty, "message", arguments=(f"{{root}}/{PACKAGE}", "--root", "{root}/nothing"))
    yield Case(
        "no package", lambda root: shutil.rmtree(root / PACKAGE), "message", arguments=("{root}", "--root", "{root}")
    )
    yield Case("empty package", _emptied, "message")
    yield Case(
        "not a Python file",
        written("notes.txt", "x"),
        "message",
        arguments=("{root}/notes.txt", "--root", "{root}"),
    )


def _settings() -> Iterator[Case]:
    for name, text in (
        ("no TOML", "[tool.opslint\n"),
        ("no text", b"\xff\xfe\x00"),
        ("unknown key", "[tool.opslint]\nselekt = ['OPS201']\n"),
        ("wrong type", "[tool.opslint]\nselect = 7\n"),
        ("table of another kind", "[tool]\nopslint = []\n"),
        ("unknown rule", "[tool.opslint]\nselect = ['OPS999']\n"),
        ("unknown name in the dialect", "[tool.opslint.dialect]\nregistri = 'R'\n"),
        ("wrong type in the dialect", "[tool.opslint.dialect]\nregistry = ['R']\n"),
    ):
        yield Case(f"settings: {name}", written("pyproject.toml", text), "message")

    def folder(root: Path) -> None:
        (root / "pyproject.toml").unlink()
        (root / "pyproject.toml").mkdir()

    def pipe(root: Path) -> None:
        (root / "pyproject.toml").unlink()
        os.mkfifo(root / "pyproject.toml")

    def own_file(root: Path) -> None:
        write(root, "opslint.toml", "select = 'OPS\n")

    yield Case("settings: a folder", folder)
    yield Case("settings: a pipe", pipe)
    yield Case("settings: broken file of its own", own_file, "message")
    yield Case(
        "settings: given file missing",
        _unchanged,
        "message",
        arguments=(f"{{root}}/{PACKAGE}", "--config", "{root}/gone.toml"),
    )
    yield Case("deeply nested settings", written("pyproject.toml", "a = " + "[" * 5000 + "]" * 5000 + "\n"))


def _unchanged(root: Path) -> None:
    """The project as it is."""


def _emptied(root: Path) -> None:
    shutil.rmtree(root / PACKAGE)
    (root / PACKAGE).mkdir()


def _give_away(root: Path) -> None:
    """Let another user read the project as far as its permission bits allow."""
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            os.chown(os.path.join(folder, name), USER, USER, follow_symlinks=False)
    # The scratch folder above the project is closed to others when it is made.
    os.chmod(root.parent, 0o711)  # noqa: S103


def _cannot_drop(command: Sequence[str]) -> str:
    """Why the command cannot be run as another user, where it has to be."""
    if os.geteuid() != 0:
        return ""
    if shutil.which(DROP[0]) is None:
        return f"permission bits do not bind root, and there is no {DROP[0]} to become another user"
    done = subprocess.run([*DROP, *command, "--version"], capture_output=True, text=True, check=False)
    return f"another user cannot run the command: {done.stderr.strip()}" if done.returncode else ""
