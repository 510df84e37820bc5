"""Trees of old revisions, taken out of a git repository once and kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any


class MissingInputError(Exception):
    """An input that whoever runs the evaluation has to provide is not there."""


def tree_of(repository: Path, commit: str, cache: Path) -> Path:
    """The files of *commit*, unpacked below *cache* unless they already are.

    Raises:
        MissingInputError: the repository does not have that commit.
    """
    place = cache / commit
    if place.is_dir():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        archive = Path(scratch, "tree.tar")
        command = ["git", "--git-dir", str(repository), "archive", "--format=tar", f"--output={archive}", commit]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingInputError(f"no tree for {commit}: {done.stderr.strip() or 'git archive failed'}")
        unpacked = Path(scratch, "tree")
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
        try:
            os.replace(unpacked, place)
        except OSError:
            if not place.is_dir():
                raise
    return place


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file.

    Raises:
        MissingInputError: there is no such file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingInputError(f"no such file: {path}") from None
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def need_git_dir(repository: Path) -> None:
    """Check that *repository* is a git directory and that git is installed.

    Raises:
        MissingInputError: it is not.
    """
    if shutil.which("git") is None:
        raise MissingInputError("git is not installed")
    if not (repository / "objects").is_dir():
        raise MissingInputError(f"no git directory: {repository}")
