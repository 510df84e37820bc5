"""Each way in which a factory can go wrong has its status, and the kernels beside it are not affected."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from runtime.planted import FACTORY_LINE, HEALTHY_STATES, QUICK, REGISTERED, factory, run_tree, write_tree

PACKAGE = "tiny/ops/__init__.py"
PLANTED = "tiny/ops/kernels/planted.py"
FAULTS = {
    "raises": ('raise ValueError("no such tile")', "broken", "ValueError: no such tile", "OPS903", 1),
    "exits": ("sys.exit(3)", "broken", "SystemExit: 3", "OPS903", 1),
    "returns-nothing": (
        "max", "not-callable", "resolve() returned None (NoneType), which cannot be called", "OPS904", 0
    ),
    "returns-a-string": (
        'return "max"', "not-callable", "resolve() returned 'max' (str), which cannot be called", "OPS904", 0
    ),
    "missing-name": (
        "from .plain import nothing", "broken",
        "ImportError: cannot import name 'nothing' from 'tiny.ops.kernels.plain'", "OPS903", 1,
    ),
    "missing-module": (
        "from . import nowhere", "broken",
        "ImportError: cannot import name 'nowhere' from 'tiny.ops.kernels'", "OPS903", 1,
    ),
    "missing-package": ("import nobody_has_this", "missing", "nobody_has_this is not installed", None, 0),
    "missing-with-extra": (
        "import torch_npu", "missing", "torch_npu is not installed; the extra `npu` brings it", None, 0
    ),
    "says-what-is-missing": (
        "raise RuntimeError(\"kernel 'quack' cannot be used: tile-kernels is not installed, nor is fla\")", "missing",
        "tile_kernels is not installed (kernel 'quack' cannot be used: tile-kernels is not installed, nor is fla)",
        None, 0,
    ),
    "ends-the-process": ("os._exit(3)", "crashed", "the process ended itself with exit status 3", "OPS905", 0),
    "ends-it-well": ("os._exit(0)", "crashed", "the process ended itself with exit status 0", "OPS905", 0),
    "segmentation-fault": (
        "os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "the process was killed by SIGSEGV", "OPS905", 0
    ),
    "loops": ("while True:\n    pass", "timeout", "no answer within 2 s", "OPS905", 0),
    "loops-in-a-child": (
        "if os.fork() == 0:\n    while True:\n        pass\nos.wait()", "timeout", "no answer within 2 s", "OPS905", 0
    ),
    "allocates": (
        "kept = []\nwhile True:\n    kept.append(b'x' * 50_000_000)", "crashed",
        "it took more than the 256 MiB that it may take", "OPS905", 0,
    ),
    "prints": ('print("{\\"event\\": \\"answer\\"}")\nos.write(1, b"x" * 100_000)\nreturn max', "ok", "", None, 0),
    "kills-its-parent": (
        "os.kill(os.getppid(), signal.SIGKILL)\nsignal.pause()", "crashed", "the process was killed by SIGKILL",
        "OPS905", 0,
    ),
    "closes-everything": ("os.closerange(0, 3)\nreturn max", "ok", "", None, 0),
    "changes-state": ('from . import healthy\nhealthy.STATE["kernel"] = None\nreturn max', "ok", "", None, 0),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault: str, tmp_path: Path) -> None:
    """The planted kernel has its status and its finding at its line; the healthy ones have theirs, without findings."""
    body, status, reason, code, offset = FAULTS[fault]
    write_tree(tmp_path, kernels__planted=factory(body))
    outcome = run_tree(tmp_path)
    kernels = {kernel.name: kernel for kernel in outcome.run.kernels}
    assert {name: kernel.status for name, kernel in kernels.items()} == {**HEALTHY_STATES, "planted": status}
    assert kernels["planted"].reason.partition(" (/")[0] == reason
    found = [(finding.code, finding.place.path, finding.place.line) for finding in outcome.report.findings]
    assert found == ([(code, PLANTED, FACTORY_LINE + offset)] if code else [])


def test_output_is_kept(tmp_path: Path) -> None:
    """What a kernel prints is with its state and nowhere else."""
    write_tree(tmp_path, kernels__planted=factory('print("compiling")\nreturn max'))
    outputs = {kernel.name: kernel.output for kernel in run_tree(tmp_path).run.kernels}
    assert outputs == {"first": "", "second": "", "npu": "", "planted": "compiling\n"}


def test_hang_is_shown_where_it_is(tmp_path: Path) -> None:
    """The stacks are written before a kernel that hangs is killed."""
    write_tree(tmp_path, kernels__planted=factory("while True:\n    pass"))
    planted = next(kernel for kernel in run_tree(tmp_path).run.kernels if kernel.name == "planted")
    assert 'planted.py", line' in planted.output.replace("'", '"')


def test_traceback_is_of_the_project(tmp_path: Path) -> None:
    """A failure deeper in the project is at the innermost line, with the way there and the registration beside it."""
    write_tree(
        tmp_path,
        kernels__planted=factory("from .plain import build\nreturn build()"),
        kernels__plain="def add(x, y):\n    return x + y\n\n\ndef build():\n    return {}['tile']\n",
    )
    finding = run_tree(tmp_path).report.findings[0]
    assert (finding.place.path, finding.place.line) == ("tiny/ops/kernels/plain.py", 6)
    assert [(related.place.line, related.message) for related in finding.related] == [
        (FACTORY_LINE + 5, "registered here"),
        (FACTORY_LINE + 2, "called in `_factory`"),
    ]


IMPORTS = {
    "raises": ("1 / 0\n", "broken", "ZeroDivisionError: division by zero", "OPS903", PLANTED),
    "syntax": ("def (:\n", "broken", "SyntaxError: invalid syntax", "OPS903", PLANTED),
    "optional": ("import torch_npu\n", "missing", "torch_npu is not installed", "OPS903", PLANTED),
    "crashes": ("import os\nos._exit(5)\n", "crashed", "the process ended itself", "OPS905", PACKAGE),
    "hangs": ("while True:\n    pass\n", "timeout", "the import did not end within 2 s", "OPS905", PACKAGE),
    "duplicate": (
        factory("return max") + REGISTERED, "broken",
        "ValueError: duplicate kernel planted", "OPS903", PLANTED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", IMPORTS)
def test_package_that_cannot_be_imported(fault: str, tmp_path: Path) -> None:
    """It is one finding, and there are no kernels."""
    source, status, reason, code, path = IMPORTS[fault]
    write_tree(tmp_path, kernels__planted=source)
    outcome = run_tree(tmp_path, replace(QUICK, import_timeout=2.0))
    imported = outcome.run.imported
    assert (imported.status, imported.reason[: len(reason)], outcome.run.kernels) == (status, reason, ())
    assert [(finding.code, finding.place.path) for finding in outcome.report.findings] == [(code, path)]


def test_duplicate_is_at_the_second_registration(tmp_path: Path) -> None:
    """The registry raises, but it is the registration that is wrong."""
    write_tree(tmp_path, kernels__planted=factory("return max") + REGISTERED)
    assert [finding.place.line for finding in run_tree(tmp_path).report.findings] == [FACTORY_LINE + 7]


def test_nothing_of_it_is_imported_here(tmp_path: Path) -> None:
    """Neither the program nor its packages get into the process of opslint."""
    write_tree(tmp_path)
    # The process that runs the tests may have loaded torch for others before.
    before = set(sys.modules)
    run_tree(tmp_path)
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert loaded & {"tiny", "torch", "_opslint_child"} == set()
    assert not {"tiny", "_opslint_child"} & set(sys.modules)
