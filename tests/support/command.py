"""Running the command line as a user does, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str


def opslint(*arguments: str, cwd: Path | None = None, stdin: str = "", **environment: str) -> Outcome:
    """Run ``opslint`` with *arguments*."""
    done = subprocess.run(
        [sys.executable, "-m", "veomni_opslint", *arguments],
        cwd=cwd,
        input=stdin.encode(),
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
        timeout=120,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
