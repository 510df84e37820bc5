"""Run opslint as its users do, as a child process, and read its JSON."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

DEFAULT_COMMAND = (sys.executable, "-m", "veomni_opslint")


@dataclass(frozen=True, slots=True, order=True)
class Reported:
    """One finding as it stands in the JSON report."""

    path: str
    line: int
    code: str
    message: str
    severity: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code} {self.message}"


class OpslintFailedError(Exception):
    """opslint could not make the run, or its output is not what the contract says."""


def add_command_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--opslint``, by which another installation can be judged."""
    parser.add_argument("--opslint", metavar="COMMAND", help="the command to judge; default: this Python's opslint")


def command_from(options: argparse.Namespace) -> tuple[str, ...]:
    """The command that ``--opslint`` names, else that of this Python."""
    return tuple(shlex.split(options.opslint)) if options.opslint else DEFAULT_COMMAND


def check(command: Sequence[str], root: Path, paths: Sequence[str] = (), select: str = "") -> list[Reported]:
    """All findings, infos too, for *paths* (the whole of *root* when there are none).

    Raises:
        OpslintFailedError: the run could not be made.
    """
    arguments = ["check", *(str(root / path) for path in paths or ("",))]
    arguments += ["--root", str(root), "--output-format", "json", "--min-severity", "info"]
    arguments += uncached(tuple(command))
    if select:
        arguments += ["--select", select]
    return [reported(entry) for entry in run_json(command, arguments)["findings"]]


@lru_cache
def uncached(command: tuple[str, ...]) -> tuple[str, ...]:
    """The option that switches the cache off, for a version that has a cache."""
    done = subprocess.run([*command, "check", "--help"], capture_output=True, text=True, check=False, env=environment())
    return ("--no-cache",) if "--no-cache" in done.stdout else ()


def environment() -> dict[str, str]:
    """The environment of a child: started in the user's folder, it must not import a `rules` that lies there."""
    return {**os.environ, "PYTHONSAFEPATH": "1"}


def registry(command: Sequence[str], root: Path) -> dict[str, Any]:
    """The static registry of the tree at *root*, as ``opslint registry --format json`` gives it.

    Raises:
        OpslintFailedError: the run could not be made.
    """
    return run_json(command, ["registry", str(root), "--format", "json"])


def run_json(command: Sequence[str], arguments: Sequence[str]) -> dict[str, Any]:
    """What the command prints, as JSON; statuses 0 and 1 both mean that the run was made.

    Raises:
        OpslintFailedError: another status, or output that is no JSON object.
    """
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, env=environment())
    if done.returncode not in (0, 1):
        said = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise OpslintFailedError(f"exit status {done.returncode}: {said[-1]}")
    try:
        value = json.loads(done.stdout)
    except ValueError as error:
        raise OpslintFailedError(f"the output is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise OpslintFailedError("the output is no JSON object")
    return value


def reported(entry: Mapping[str, Any]) -> Reported:
    """One finding from its JSON object."""
    return Reported(
        path=entry["path"],
        line=entry["line"],
        code=entry["code"],
        message=entry["message"],
        severity=entry["severity"],
        fingerprint=entry["fingerprint"],
    )
