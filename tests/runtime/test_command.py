"""The command as a user runs it: formats, status, and errors of usage."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from runtime.planted import FACTORY_LINE, FILES, factory, write_tree
from runtime.test_compare import GENERATED, MODELS
from support.command import opslint
from support.projects import write_files

EXAMPLES = """
import torch


class Example:
    definition = staticmethod(torch.mul)
    arguments = (torch.ones(3, requires_grad=True), torch.full((3,), 2.0))
    options = {}
    tolerance = 1.0

    def adapt(self, kernel):
        return kernel

    def adapt_definition(self):
        return self.definition


EXAMPLES = {("sum", "standard"): lambda inputs: iter([Example()])}
"""


def test_text(tmp_path: Path) -> None:
    """The machine, a line for each kernel, and the findings."""
    write_tree(tmp_path, kernels__planted=factory("return 3"))
    done = opslint("runtime", "tiny", cwd=tmp_path)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("device ")
    assert "sum/standard  npu      gated         it needs npu" in lines
    assert "4 kernels: 2 ok, 1 gated, 1 not-callable" in lines
    assert f"tiny/ops/kernels/planted.py:{FACTORY_LINE}:1: error OPS904 kernel-not-callable" in lines


def test_wrong_interpreter(tmp_path: Path) -> None:
    """Where a package that is not optional is missing and nothing works, the interpreter is the wrong one."""
    write_tree(tmp_path, kernels__healthy=factory("import not_there"))
    write_files(tmp_path, {**MODELS, GENERATED: "import not_there\n" + MODELS[GENERATED]})
    done = opslint("runtime", "tiny", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"opslint: error: nothing of tiny works with {sys.executable}: no kernel resolves and no module with slots can "
        "be imported, because not_there is not installed; `--python` names the interpreter of the environment that "
        "jobs run in\n"
    )


@pytest.mark.parametrize(
    ("kernel", "model"),
    [
        ("import not_there", ""),
        ("import torch_npu", "import torch_npu"),
        ("return print", "import not_there"),
    ],
    ids=["modules can be imported", "the package is optional", "a kernel resolves"],
)
def test_right_interpreter(kernel: str, model: str, tmp_path: Path) -> None:
    """Where something works, or what is missing is optional, the run is made."""
    write_tree(tmp_path, kernels__healthy=factory(kernel))
    write_files(tmp_path, {**MODELS, GENERATED: f"{model}\n{MODELS[GENERATED]}"})
    assert opslint("runtime", "tiny", "--ignore", "OPS901", cwd=tmp_path).status == 0


def test_versions_of_stand_ins(tmp_path: Path) -> None:
    """A stand-in has a version under each name of its distribution; what has no stand-in has none."""
    planted = factory("return print")
    asking = """\
from importlib.metadata import PackageNotFoundError, version

import fla

found = [fla.__version__]
for name in ("fla-core", "flash-linear-attention", "Torch.NPU", "torch-npu", "not-there"):
    try:
        found.append(version(name))
    except PackageNotFoundError:
        found.append("none")
assert found == ["99.0", "99.0", "99.0", "none", "none", "none"], found
"""
    write_tree(tmp_path, kernels__planted=asking + planted)
    done = opslint("runtime", "tiny", "--simulate", "gpu:90", "--ignore", "OPS902", cwd=tmp_path)
    assert (done.status, done.out.splitlines()[-1]) == (0, "no findings in 7 files")


def test_json(tmp_path: Path) -> None:
    """Everything in one object, also of a package that cannot be imported."""
    write_tree(tmp_path, kernels__planted="1 / 0\n")
    done = opslint("runtime", ".", "--format", "json", cwd=tmp_path)
    written = json.loads(done.out)
    assert (done.status, written["kernels"], written["import"]["status"]) == (1, [], "broken")
    assert [finding["code"] for finding in written["findings"]] == ["OPS903"]
    assert written["import"]["error"]["frames"][-1]["file"] == "tiny/ops/kernels/planted.py"


def test_markdown_and_concise(tmp_path: Path) -> None:
    """Tables for an issue; the formats of `check` hold the findings alone."""
    write_tree(tmp_path, kernels__planted=factory("return 3"))
    assert (
        "| sum | standard | npu | gated | it needs npu |"
        in opslint("runtime", "tiny", "--format", "markdown", cwd=tmp_path).out.splitlines()
    )
    concise = opslint("runtime", "tiny", "--format", "concise", cwd=tmp_path).out
    assert concise.startswith(f"tiny/ops/kernels/planted.py:{FACTORY_LINE}:1: error OPS904")


def test_suppression_and_selection(tmp_path: Path) -> None:
    """Comments and selectors work as in `check`, and `check` does not call the comment unused."""
    ignored = factory("return 3").replace("_factory():", "_factory():  # opslint: ignore[OPS904] no kernel yet")
    write_tree(tmp_path, kernels__planted=ignored)
    assert opslint("runtime", "tiny", cwd=tmp_path).status == 0
    assert "OPS002" not in opslint("check", "tiny", cwd=tmp_path).out
    write_tree(tmp_path, kernels__planted=factory("return 3"))
    assert opslint("runtime", "tiny", "--ignore", "OPS904", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["check", "tiny", "--select", "OPS905"],
            "OPS905 resolve-crashed is about a run of the program: `opslint runtime`",
        ),
        (["runtime", "tiny", "--select", "OPS101"], "no rule is selected"),
        (["runtime", "tiny", "--python", "no-such-python"], "--python no-such-python: there is no such interpreter"),
        (["runtime", "tiny", "--timeout", "0"], "`0` is no number above 0"),
        (["runtime", "tiny", "--simulate", "gpu"], "gpu: is none of gpu:N, npu and cpu"),
        (["runtime", "tiny", "--package", "tiny"], "a path and --package"),
        (["runtime", "--package", "nobody_has_this"], "finds no package of that name"),
        (["runtime", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_usage(arguments: list[str], message: str, tmp_path: Path) -> None:
    """What cannot be run ends with 2 and says why."""
    write_tree(tmp_path)
    done = opslint(*arguments, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_installed_package(tmp_path: Path) -> None:
    """The interpreter says where the package of that name is."""
    write_tree(tmp_path)
    done = opslint("runtime", "--package", "tiny", "--format", "json", cwd=tmp_path.parent, PYTHONPATH=str(tmp_path))
    assert (done.status, json.loads(done.out)["package"]) == (0, "tiny")


def test_environment_without_what_the_program_needs(tmp_path: Path) -> None:
    """A package that is not optional and not installed means the wrong interpreter."""
    write_tree(tmp_path, kernels__planted="import a_package_that_nobody_has\n")
    done = opslint("runtime", "tiny", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "a_package_that_nobody_has is not installed; `--python` names the interpreter" in done.err


def test_simulated_hardware(tmp_path: Path) -> None:
    """Missing packages get stand-ins and the report says so."""
    write_tree(tmp_path, kernels__planted=factory("import torch_npu\nreturn torch_npu.npu_swiglu"))
    done = opslint("runtime", "tiny", "--simulate", "npu", "--format", "json", cwd=tmp_path)
    written = json.loads(done.out)
    assert (done.status, written["simulated"], "torch_npu" in written["stand_ins"]) == (0, "npu", True)
    assert {kernel["name"]: kernel["status"] for kernel in written["kernels"]} == {
        "first": "ok", "second": "ok", "npu": "gated", "planted": "ok"
    }  # fmt: skip


def test_call(tmp_path: Path) -> None:
    """Kernels are called with the examples of their folder; a wrong one is a finding at its factory."""
    pytest.importorskip("torch", reason="the examples are tensors")
    pair = factory("import torch\nreturn torch.mul") + factory("import torch\nreturn torch.add").replace(
        "planted", "wrong"
    )
    write_files(tmp_path, {**FILES, "tiny/ops/kernels/planted.py": pair, "tiny/ops/kernels/examples.py": EXAMPLES})
    done = opslint("runtime", "tiny", "--call", "--format", "json", cwd=tmp_path)
    written = json.loads(done.out)
    calls = {kernel["name"]: kernel["call"] and kernel["call"]["passed"] for kernel in written["kernels"]}
    assert calls == {"first": False, "second": False, "npu": None, "planted": True, "wrong": False}
    places = {(finding["code"], finding["path"], finding["line"]) for finding in written["findings"]}
    assert ("OPS904", "tiny/ops/kernels/planted.py", FACTORY_LINE + 4 + FACTORY_LINE + 1) in places


def test_call_without_examples(tmp_path: Path) -> None:
    """A package that declares none is told so."""
    write_tree(tmp_path)
    done = opslint("runtime", "tiny", "--call", cwd=tmp_path)
    assert done.status == 0
    assert "none called: tiny declares no examples for those that resolve" in done.out
