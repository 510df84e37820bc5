"""One hostile project, how opslint is run on it, and what must come of that."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evaluation.opslint_child import environment, uncached

PACKAGE = "veomni"
ODD = f"{PACKAGE}/ops/kernels/odd.py"
UNREADABLE_CODES = ("OPS001", "OPS003")
MAX_MEMORY_MIB = 4000
WALL_TO_CPU = 4

PROJECT = {
    "pyproject.toml": '[project]\nname = "veomni"\nversion = "1"\n',
    f"{PACKAGE}/__init__.py": "from . import ops\n",
    f"{PACKAGE}/ops/__init__.py": "from . import kernels\n",
    f"{PACKAGE}/ops/kernels/__init__.py": "from . import odd, plain\n",
    f"{PACKAGE}/ops/kernel_registry.py": (
        "class HardwareRequirement:\n    pass\n\n\nclass KernelSpec:\n    pass\n\n\n"
        "class KernelRegistry:\n    def register(self, spec, force=False):\n        pass\n\n\n"
        "KERNEL_REGISTRY = KernelRegistry()\n"
    ),
    f"{PACKAGE}/ops/kernels/plain.py": (
        "from ..kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec\n\n\n"
        "def _factory():\n    return max\n\n\n"
        'KERNEL_REGISTRY.register(KernelSpec("plain", "norm", "standard", _factory, HardwareRequirement("any")))\n'
    ),
    ODD: "",
}

Build: TypeAlias = Callable[[Path], None]
Expectation: TypeAlias = Literal["finding", "quiet", "message", "any", "nothing"]


@dataclass(frozen=True, slots=True)
class Case:
    """A project made by ``build`` in an empty folder that already has PROJECT.

    ``expects``: ``finding``: OPS001 or OPS003 for the file ``odd``; ``quiet``: neither for it; ``message``: status 2
    and a line that says why; ``any``: a report or such a message; ``nothing``: the report cannot be read here.
    ``arguments`` follow ``check``; ``{root}`` is the folder. ``needs`` says why the command cannot be tried, if so.
    ``limit`` is in seconds of CPU time.
    """

    name: str
    build: Build
    expects: Expectation = "any"
    odd: str = ODD
    arguments: tuple[str, ...] = ("{root}/" + PACKAGE, "--root", "{root}")
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    needs: Callable[[Sequence[str]], str] = lambda _: ""
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened; ``problems`` is empty when the case was survived, ``skipped`` says why it was not run."""

    name: str
    problems: tuple[str, ...]
    seconds: float = 0.0
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """A child that has ended, or was ended because its time was up."""

    status: int | None
    output: bytes
    errors: bytes
    seconds: float
    memory: float


def write(root: Path, path: str, content: str | bytes) -> None:
    """Write one file and the folders that it needs."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)


def written(path: str, content: str | bytes) -> Build:
    """A project with one more, or one other, file."""
    return lambda root: write(root, path, content)


def run_case(case: Case, command: Sequence[str]) -> Outcome:
    """Build the project, run opslint on it, and judge what it did."""
    reason = case.needs(command)
    if reason:
        return Outcome(case.name, (), skipped=reason)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "project")
        root.mkdir()
        for path, text in PROJECT.items():
            write(root, path, text)
        case.build(root)
        try:
            arguments = [part.replace("{root}", str(root)) for part in case.arguments]
            argv = [*case.prefix, *command, "check", *arguments, "--output-format", "json", *uncached(tuple(command))]
            ran = run_child(argv, case.environment, case.limit)
        finally:
            _make_removable(root)
    return Outcome(case.name, tuple(judge(case, ran)), ran.seconds)


def run_child(argv: Sequence[str], more: Mapping[str, str], limit: int) -> Ran:
    """Run a command with *more* in its environment.

    It is ended after *limit* seconds of CPU time, or four times as long when it only waits.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**environment(), **more},
            # Not the user's folder: a `rules` or `veomni` that lies there could be imported.
            cwd="/",
            start_new_session=True,
            # CPU time, because other work on the machine must not decide what is survived.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),  # noqa: PLW1509
        )
        status, memory = _wait(child, start + limit * WALL_TO_CPU)
        seconds = time.perf_counter() - start
        output.seek(0)
        errors.seek(0)
        return Ran(status, output.read(), errors.read(), seconds, memory)


def judge(case: Case, ran: Ran) -> list[str]:
    """What is wrong with how a run ended."""
    if ran.status is None:
        return [f"not done in {case.limit} s of CPU time"]
    said = ran.errors.decode(errors="replace")
    problems = []
    if b"Traceback" in ran.errors or b"Traceback" in ran.output:
        problems.append("a traceback: " + said.strip().splitlines()[-1])
    if ran.status not in (0, 1, 2):
        problems.append(f"exit status {ran.status}")
    if ran.memory > MAX_MEMORY_MIB:
        problems.append(f"{ran.memory:.0f} MiB of memory")
    if problems:
        return problems
    if ran.status == 2:
        if not said.strip():
            return ["exit status 2 without a message"]
        return [] if case.expects in ("message", "any", "nothing") else [f"not run: {said.strip().splitlines()[-1]}"]
    if case.expects == "message":
        return [f"exit status {ran.status} where nothing could be checked"]
    return [] if case.expects == "nothing" else _judge_report(case, ran.output)


def _judge_report(case: Case, output: bytes) -> list[str]:
    try:
        report: dict[str, Any] = json.loads(output)
    except ValueError as error:
        return [f"the report is no JSON: {error}"]
    at_odd = [entry for entry in report["findings"] if entry["path"] == case.odd and entry["code"] in UNREADABLE_CODES]
    if case.expects == "finding" and not at_odd:
        return [f"nothing said of {case.odd!r}"]
    if case.expects == "quiet" and at_odd:
        return [f"false alarm: {at_odd[0]['code']} {at_odd[0]['message']}"]
    return []


def _wait(child: subprocess.Popen[bytes], deadline: float) -> tuple[int | None, float]:
    """The exit status, None when its time was up, and the peak memory in MiB."""
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            out_of_time = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
            return None if out_of_time else child.returncode, usage.ru_maxrss / 1024
        if time.perf_counter() > deadline:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return None, 0.0
        time.sleep(0.02)


def _make_removable(root: Path) -> None:
    for folder, names, _ in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
