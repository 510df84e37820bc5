"""Every file of a real tree cut off at a random place, and other damage, against what Python itself says of it."""

from __future__ import annotations

import ast
import io
import json
import random
import shutil
import tempfile
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from evaluation.opslint_child import uncached
from evaluation.survive.case import PACKAGE, UNREADABLE_CODES, Case, Outcome, judge, run_child

Damage: TypeAlias = Callable[[bytes, random.Random], bytes]


def _without_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _with_byte(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


DAMAGES: dict[str, Damage] = {
    "cut off": lambda data, chance: data[: chance.randrange(len(data) + 1)],
    "cut off at a line": lambda data, chance: b"\n".join(data.split(b"\n")[: chance.randrange(data.count(b"\n") + 1)]),
    "beginning lost": lambda data, chance: data[chance.randrange(len(data) + 1) :],
    "a line lost": _without_line,
    "a byte changed": _with_byte,
    "CRLF": lambda data, _: data.replace(b"\n", b"\r\n"),
    "CR": lambda data, _: data.replace(b"\n", b"\r"),
    "byte order mark": lambda data, _: b"\xef\xbb\xbf" + data,
    "tabs": lambda data, _: data.replace(b"    ", b"\t"),
}


def outcomes(tree: Path, command: Sequence[str], seed: int, limit: int) -> Iterator[Outcome]:
    """Damage every file of the package in *tree* in each of the ways, and check the whole of it."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "project")
        shutil.copytree(tree / PACKAGE, root / PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.diff"))
        shutil.copy(tree / "pyproject.toml", root / "pyproject.toml")
        contents = {path: path.read_bytes() for path in sorted(root.rglob("*.py"))}
        for name, damage in DAMAGES.items():
            chance = random.Random(f"{seed} {name}")  # noqa: S311
            broken = set()
            for path, data in contents.items():
                damaged = damage(data, chance)
                path.write_bytes(damaged)
                if not parses(damaged):
                    broken.add(path.relative_to(root).as_posix())
            yield _check(name, root, command, broken, limit)


def parses(data: bytes) -> bool:
    """Whether *data* is text, also in its comments, and Python takes it for a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            data.decode(encoding)
            ast.parse(data)
        except (SyntaxError, ValueError, LookupError):
            return False
    return True


def differences(broken: set[str], report: str) -> list[str]:
    """The files of which Python and the report disagree whether they can be read."""
    findings = json.loads(report)["findings"]
    said = {entry["path"] for entry in findings if entry["code"] in UNREADABLE_CODES}
    return [f"nothing said of {path}" for path in sorted(broken - said)] + [
        f"false alarm about {path}" for path in sorted(said - broken)
    ]


def _check(name: str, root: Path, command: Sequence[str], broken: set[str], limit: int) -> Outcome:
    argv = [*command, "check", str(root / PACKAGE), "--root", str(root), "--output-format", "json"]
    ran = run_child([*argv, *uncached(tuple(command))], {}, limit)
    case = Case(name, lambda _: None, "message" if ran.status == 2 else "any", limit=limit)
    problems = judge(case, ran)
    if not problems and ran.status != 2:
        problems = differences(broken, ran.output.decode())
    elif not problems and not _package_is_gone(root, broken):
        problems = [f"not run: {ran.errors.decode(errors='replace').strip()}"]
    return Outcome(f"every file: {name} ({len(broken)} broken)", tuple(problems[:8]), ran.seconds)


def _package_is_gone(root: Path, broken: set[str]) -> bool:
    """Whether so much is broken that no package of this architecture can be recognized."""
    return any(path.endswith("ops/__init__.py") for path in broken) or not (root / PACKAGE / "ops").is_dir()
