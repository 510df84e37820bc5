"""Does `opslint runtime` give every planted fault its status, and leave the other kernels as they were?"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_HEAD = """

import os as _os
import signal as _signal

from .kernel_registry import KERNEL_REGISTRY as _REGISTRY, HardwareRequirement as _Needs, KernelSpec as _Spec

_STATE = {"kernel": max}

"""
_FACTORY = """
def _{function}():
{body}

_REGISTRY.register(
    _Spec(name="{name}", op_name="planted", variant="standard", factory=_{function}, hardware=_Needs("any"))
)
"""
_FAULTS = {
    "raises": ('raise ValueError("no such tile")', "broken"),
    "returns-none": ("return None", "not-callable"),
    "returns-a-string": ('return "max"', "not-callable"),
    "missing-name": ("from .kernel_registry import nothing_of_that_name", "broken"),
    "missing-package": ("import a_package_that_nobody_has", "missing"),
    "ends-the-process": ("_os._exit(3)", "crashed"),
    "segmentation-fault": ("_os.kill(_os.getpid(), _signal.SIGSEGV)", "crashed"),
    "loops": ("while True:\n    pass", "timeout"),
    "allocates": ('kept = []\nwhile True:\n    kept.append(b"x" * 50_000_000)', "crashed"),
    "prints": ('print("{}")\n_os.write(1, b"x" * 100_000)\nreturn max', "ok"),
    "changes-what-another-reads": ('_STATE["kernel"] = None\nreturn max', "ok"),
    "reads-what-another-changes": ('return _STATE["kernel"]', "ok"),
}
_VARIABLE = "PLANTED_KERNEL"
_MEMORY_GIB = "2"


def _planted(name: str, body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return _FACTORY.format(function=name.replace("-", "_"), name=name, body=indented)


_ALL = _HEAD + "".join(_planted(name, body) for name, (body, _) in _FAULTS.items())
_SPEC = _planted("twice", "return max")
_TWICE = _HEAD + _SPEC + _SPEC
_ON_REQUEST = (
    _HEAD
    + f'if _os.environ.get("{_VARIABLE}"):\n'
    + "".join(f"    {line}\n" for line in _planted("on-request", "return max").strip().splitlines())
)


class _Tree:
    """Copies of one package, each with something planted at the end of its ops package."""

    def __init__(self, package: Path, python: str, timeout: float, scratch: Path) -> None:
        self._package = package
        self._python = python
        self._timeout = timeout
        self._scratch = scratch

    def run(self, planted: str, **environment: str) -> dict[str, Any]:
        """The report on a copy with *planted*."""
        copy = Path(tempfile.mkdtemp(dir=self._scratch))
        target = copy / self._package.name
        shutil.copytree(self._package, target, ignore=shutil.ignore_patterns("__pycache__"))
        copy.joinpath("pyproject.toml").write_text('[project]\nname = "planted"\n', encoding="utf-8")
        with (target / "ops" / "__init__.py").open("a", encoding="utf-8") as file:
            file.write(planted)
        limits = ["--timeout", str(self._timeout), "--memory", _MEMORY_GIB]
        command = [sys.executable, "-m", "veomni_opslint", "runtime", str(target), "--python", self._python, *limits]
        done = subprocess.run(
            [*command, "--format", "json"],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
        )
        shutil.rmtree(copy)
        if done.returncode == 2:
            raise SystemExit(f"no run: {done.stderr.strip()}")
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def _statuses(report: dict[str, Any]) -> dict[str, str]:
    return {f"{one['op_name']}/{one['variant']} {one['name']}": one["status"] for one in report["kernels"]}


def _codes(report: dict[str, Any]) -> list[str]:
    return sorted(f"{one['code']} {one['message'].partition(':')[0]}" for one in report["findings"])


def _failures(tree: _Tree) -> list[str]:
    before = tree.run("")
    usual, accepted = _statuses(before), _codes(before)
    failures = []

    def expect(what: str, seen: object, wanted: object) -> None:
        print(f"{'ok  ' if seen == wanted else 'FAIL'} {what}", flush=True)
        if seen != wanted:
            failures.append(f"{what}: {seen!r} instead of {wanted!r}")

    seen = _statuses(tree.run(_ALL))
    for name, (_, status) in _FAULTS.items():
        expect(name, seen.pop(f"planted/standard {name}", "not registered"), status)
    expect("the kernels beside them", seen, usual)

    broken = tree.run("\n1 / 0\n")
    expect("a package that cannot be imported", (broken["import"]["status"], broken["kernels"]), ("broken", []))
    twice = tree.run(_TWICE)
    said = (twice["import"]["status"], "OPS903" in {one["code"] for one in twice["findings"]})
    kept = (twice["import"]["status"], "OPS901" in {one["code"] for one in twice["findings"]})
    expect("a spec registered twice", said == ("broken", True) or kept == ("ok", True), True)
    absent = tree.run(_ON_REQUEST)
    expect("a spec behind a variable that is not set", _statuses(absent), usual)
    new = [one for one in _codes(absent) if one not in accepted]
    expect("its one finding", [one.partition(" ")[0] for one in new], ["OPS901"])
    present = tree.run(_ON_REQUEST, **{_VARIABLE: "1"})
    expect("the same, set", _statuses(present), {**usual, "planted/standard on-request": "ok"})
    expect("and no finding about it", _codes(present), accepted)
    return failures


def main() -> int:
    """0 if every fault had its status, 1 if not, 2 if there was nothing to run."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.runtime_faults", description=__doc__)
    parser.add_argument(
        "--package", type=Path, default=Path("veomni"), help="the package to plant in (default: veomni)"
    )
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch and what the package needs")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for one kernel (default: 10)")
    options = parser.parse_args()
    if not options.package.joinpath("ops", "__init__.py").is_file():
        print(f"no ops package in {options.package}", file=sys.stderr)
        return 2
    has_torch = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
    if (
        shutil.which(options.python) is None
        or subprocess.run([options.python, "-c", has_torch], check=False).returncode
    ):
        print(f"{options.python} has no torch, which the package needs: see --python", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        failures = _failures(_Tree(options.package.resolve(), options.python, options.timeout, Path(scratch)))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
