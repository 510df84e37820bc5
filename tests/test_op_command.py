"""``opslint op`` from outside: whole outputs and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

KERNELS = "docs/kernels.md"
FILES = {
    "pyproject.toml": "",
    "tests/ops/test_swiglu.py": "def test_forward():\n    assert 'swiglu_mlp', 'triton'\n",
    KERNELS: "| Config field | Default |\n|---|---|\n| `swiglu_mlp_implementation` | `triton` |\n",
}
SWIGLU = "veomni/ops/kernels/swiglu/__init__.py"
TYPES = "veomni/arguments/arguments_types.py"
LLAMA = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
STEPS = [
    ("folder", "done", "veomni/ops/kernels/swiglu", None, None),
    ("eager", "done", "the code of the model beside the slot", None, None),
    ("factory", "done", "1 kernel has one", SWIGLU, 4),
    ("registration", "done", "triton", SWIGLU, 10),
    ("slot", "done", "1 slot in 1 model", LLAMA, 7),
    ("field", "done", "swiglu_mlp_implementation", TYPES, 17),
    ("wrapper", "not needed", "async Ulysses does not wrap this op", None, None),
    ("NPU file", "missing", "no kernel is for an NPU, so that the op is eager there", None, None),
    ("test", "done", "1 file", "tests/ops/test_swiglu.py", 2),
    ("docs", "done", "1 table", KERNELS, 3),
]
TEXT = f"""\
swiglu_mlp (standard)

what value where
config field swiglu_mlp_implementation = triton {TYPES}:17
_NPU_ALLOWED eager {TYPES}:6
_NPU_DEFAULT_FALLBACK eager {TYPES}:10
1 test file test_swiglu.py tests/ops/test_swiglu.py:2
documentation swiglu_mlp_implementation | triton {KERNELS}:3

Implementations

variant implementation hardware factory
standard triton gpu >=80 {SWIGLU}:4

Slots

variant slot models
standard veomni_swiglu_mlp llama

Steps of adding an op

step status what where
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The base tree with a test and a document."""
    write_base_tree(tmp_path)
    write_files(tmp_path, FILES)
    return tmp_path


def squeezed(text: str) -> str:
    """The text without the spaces that align its columns."""
    return "".join(f"{' '.join(line.split())}\n" for line in text.splitlines())


def test_text(project: Path) -> None:
    """One screen with everything about the op; its config field is a name of it."""
    outcome = opslint("op", "swiglu_mlp_implementation", cwd=project)
    rows = [" ".join((*row[:3], f"{row[3]}:{row[4]}" if row[3] else "")).rstrip() for row in STEPS]
    assert (outcome.status, outcome.err) == (0, "")
    assert squeezed(outcome.out) == TEXT + "".join(f"{row}\n" for row in rows) + "\nMissing: NPU file.\n"


def test_json(project: Path) -> None:
    """The same as data."""
    outcome = opslint("op", "swiglu_mlp", ".", "--format", "json", cwd=project)
    document = json.loads(outcome.out)
    found = [(one["step"], one["status"], one["note"], one["file"], one["line"]) for one in document["steps"]]
    kernels = [(spec["variant"], spec["name"], spec["file"]) for spec in document["kernel_specs"]]
    assert outcome.status == 0
    assert found == STEPS
    assert kernels == [("standard", "triton", SWIGLU)]
    assert document["tests"] == [{"file": "tests/ops/test_swiglu.py", "line": 2}]
    assert document["documentation"] == [{"file": KERNELS, "line": 3, "text": "`swiglu_mlp_implementation` | `triton`"}]
    assert [(slot["model"], slot["for_npu"], slot["line"]) for slot in document["slots"]] == [("llama", False, 7)]


def test_findings(project: Path) -> None:
    """What rules find about the op makes its steps wrong, unless a comment silences it; other findings are left out."""
    write_files(
        project,
        {
            "tests/ops/test_swiglu.py": "def test_forward():\n    assert 'swiglu_mlp'\n",
            KERNELS: FILES[KERNELS].replace("`triton`", "`eager`"),
            "veomni/broken.py": "(",
        },
    )
    outcome = opslint("op", "swiglu_mlp", ".", "--output-format", "json", cwd=project)
    document = json.loads(outcome.out)
    wrong = [
        (one["step"], one["note"], one["file"], one["line"]) for one in document["steps"] if one["status"] == "wrong"
    ]
    assert [(one["code"], one["path"], one["line"]) for one in document["findings"]] == [
        ("OPS802", KERNELS, 3),
        ("OPS803", SWIGLU, 11),
    ]
    assert wrong == [("test", "1 finding (OPS803)", SWIGLU, 11), ("docs", "1 finding (OPS802)", KERNELS, 3)]
    text = opslint("op", "swiglu_mlp", ".", cwd=project).out
    assert squeezed(text).endswith(
        "rule where what is wrong\n"
        f"OPS802 {KERNELS}:3 the documentation says that `swiglu_mlp_implementation` is `eager` by default, and it is "
        "`triton`\n"
        f"OPS803 {SWIGLU}:11 no test under tests/ops names the implementation `triton` of `swiglu_mlp`\n"
        "\n"
        "Missing: NPU file. Wrong: test, docs. 2 findings: `opslint .` tells more.\n"
    )
    write_files(project, {"opslint.toml": 'ignore = ["OPS803"]'})
    document = json.loads(opslint("op", "swiglu_mlp", ".", "--format", "json", cwd=project).out)
    assert [one["code"] for one in document["findings"]] == ["OPS802"]


def test_markdown(project: Path) -> None:
    """For a page."""
    outcome = opslint("op", "swiglu_mlp", ".", "--format", "markdown", cwd=project)
    assert outcome.out.startswith("## swiglu_mlp (standard)\n\n| what | value | where |\n| --- | --- | --- |\n")


def test_package_only(project: Path) -> None:
    """Without tests and documents nothing is said of them, and a field alone is an op that is not there yet."""
    outcome = opslint("op", "attn", "veomni", "--format", "json", cwd=project)
    steps = {one["step"]: one["status"] for one in json.loads(outcome.out)["steps"]}
    assert steps == {
        "folder": "missing",
        "eager": "missing",
        "factory": "missing",
        "registration": "missing",
        "slot": "missing",
        "field": "done",
        "wrapper": "not needed",
        "NPU file": "missing",
        "test": "not known",
        "docs": "not known",
    }


def test_field_that_is_read_directly(project: Path) -> None:
    """An op with a list of values that other code reads needs neither kernels nor slots."""
    write_files(project, {"veomni/models/auto.py": "def build(ops):\n    return ops.attn_implementation\n"})
    outcome = opslint("op", "attn", "--format", "json", cwd=project)
    steps = {one["step"]: one["status"] for one in json.loads(outcome.out)["steps"]}
    left = {step: status for step, status in steps.items() if status != "not needed"}
    assert left == {"field": "done", "test": "missing", "docs": "missing"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rmsnorm", "opslint: error: no op `rmsnorm`; there is attn, rms_norm, swiglu_mlp; did you mean `rms_norm`?\n"),
        ("xyz", "opslint: error: no op `xyz`; there is attn, rms_norm, swiglu_mlp\n"),
    ],
)
def test_unknown_op(name: str, message: str, project: Path) -> None:
    """An op that there is none of ends the command with 2."""
    outcome = opslint("op", name, cwd=project)
    assert (outcome.status, outcome.out, outcome.err) == (2, "", message)
