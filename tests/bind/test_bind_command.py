"""``opslint bind`` from outside: whole outputs and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

JOB = "veomni/arguments/job.py"
JOB_TEXT = """\
from dataclasses import dataclass, field

from .arguments_types import OpsImplementationConfig


@dataclass
class Job:
    ops: OpsImplementationConfig = field(default_factory=OpsImplementationConfig)
"""
TWO = """\
from dataclasses import dataclass


@dataclass
class A:
    x: int = 0


@dataclass
class Two:
    a: A
    b: A
"""
LLAMA = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"

SWIGLU = "veomni/ops/kernels/swiglu/__init__.py"
CAPABILITY_HINT = "a GPU is named with its compute capability in two or three digits, as gpu:90 for 9.0"
REASON = (
    "RuntimeError: kernel `triton` of swiglu_mlp/standard needs gpu with compute capability 80 or higher, not gpu:75"
)

TEXT = f"""\
llama ({LLAMA})

  slot op/variant implementation from gets
  veomni_rms_norm rms_norm/standard npu configuration, job.yaml:2 error at config
  veomni_swiglu_mlp swiglu_mlp/standard triton default _triton_factory, {SWIGLU}:4

Rejected when the configuration is read, whatever the model

  field from error
  rms_norm_implementation configuration, job.yaml:2 ValueError: rms_norm_implementation='npu' needs an NPU

Not bound

  model slot stage reason
  llama veomni_rms_norm config ValueError: rms_norm_implementation='npu' needs an NPU

1 model on gpu:90, with job.yaml: 1 bound, 0 eager, 1 cannot be bound.
"""
CAPABILITY = "a GPU is named with its compute capability in two or three digits, as gpu:90 for 9.0"
MATRIX = f"""\
## Models and ops on gpu:75, with the defaults

| model | rms_norm | swiglu_mlp |
| --- | --- | --- |
| llama | liger_kernel | triton FAILS |

## Not bound

| model | slot | stage | reason |
| --- | --- | --- | --- |
| llama | veomni_swiglu_mlp | hardware | {REASON} |

1 model on gpu:75, with the defaults: 1 bound, 0 eager, 1 cannot be bound.
"""


OTHERS = "job.yaml is for {}, so what other models do with it does not matter: `--model {}` binds one model."


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project with a job file."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"opslint.toml": "", JOB: JOB_TEXT, "job.yaml": "ops:\n  rms_norm_implementation: npu\n"})
    return tmp_path


def test_text(tree: Path) -> None:
    """The table of a model, what the config class rejects, and what fails."""
    outcome = opslint("bind", "veomni", "--config", "job.yaml", cwd=tree)
    assert (outcome.status, outcome.err) == (1, "")
    assert [line.split() for line in outcome.out.splitlines()] == [line.split() for line in TEXT.splitlines()]


def test_kernel_of_a_lambda(tree: Path) -> None:
    """A factory without a name is named by its place alone."""
    registering = tree / "veomni/ops/kernels/rms_norm/__init__.py"
    text = registering.read_text(encoding="utf-8").replace(
        "factory=_liger_factory", 'factory=lambda: __import__("liger_kernel").rms_norm'
    )
    registering.write_text(text, encoding="utf-8")
    line = next(number for number, code in enumerate(text.splitlines(), start=1) if "lambda" in code)
    row = opslint("bind", "veomni", cwd=tree).out.splitlines()[3].split()
    assert row == [
        "veomni_rms_norm",
        "rms_norm/standard",
        "liger_kernel",
        "default",
        f"veomni/ops/kernels/rms_norm/__init__.py:{line}",
    ]


def test_matrix(tree: Path) -> None:
    """Models against ops, as markdown."""
    assert opslint("bind", "--device", "gpu:75", "--matrix", "--format", "markdown", cwd=tree) == Outcome(1, MATRIX, "")


def test_json(tree: Path) -> None:
    """Everything of one slot that is bound and of one that is not."""
    outcome = opslint("bind", "veomni/", "--device", "gpu:75", "--format", "json", "--model", "llama", cwd=tree)
    assert (outcome.status, outcome.err) == (1, "")
    assert json.loads(outcome.out) == {
        "device": "gpu:75",
        "config": None,
        "models": [
            {
                "name": "llama",
                "module": "veomni.models.transformers.llama.generated.patched_modeling_llama_gpu",
                "file": LLAMA,
                "slots": [
                    {
                        "var": "veomni_rms_norm",
                        "op_name": "rms_norm",
                        "variant": "standard",
                        "line": 6,
                        "field": "rms_norm_implementation",
                        "requested": "liger_kernel",
                        "origin": "default",
                        "origin_file": "veomni/arguments/arguments_types.py",
                        "origin_line": 16,
                        "status": "bound",
                        "kernel": {
                            "name": "liger_kernel",
                            "factory": "veomni.ops.kernels.rms_norm:_liger_factory",
                            "file": "veomni/ops/kernels/rms_norm/__init__.py",
                            "line": 4,
                            "registered_file": "veomni/ops/kernels/rms_norm/__init__.py",
                            "registered_line": 16,
                        },
                        "stage": None,
                        "reason": None,
                    },
                    {
                        "var": "veomni_swiglu_mlp",
                        "op_name": "swiglu_mlp",
                        "variant": "standard",
                        "line": 7,
                        "field": "swiglu_mlp_implementation",
                        "requested": "triton",
                        "origin": "default",
                        "origin_file": "veomni/arguments/arguments_types.py",
                        "origin_line": 17,
                        "status": "error",
                        "kernel": None,
                        "stage": "hardware",
                        "reason": REASON,
                    },
                ],
            }
        ],
        "patches": [],
        "rejected": [],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            (
                ["--device", device],
                f"--device {device}: is none of gpu:N, npu and cpu; {CAPABILITY}",
            )
            for device in ("gpu:9", "gpu:1000", "gpu:090", "gpu", "gpuu", "H100")
        ),
        *(
            (
                ["--device", device],
                f"--device {device}: is none of gpu:N, npu and cpu; {CAPABILITY}; did you mean `{meant}`?",
            )
            for device, meant in (("gpu90", "gpu:90"), ("GPU:9.0", "gpu:90"), ("sm_100", "gpu:100"), ("npuu", "npu"))
        ),
        (["--config", ""], "argument --config: names no file (see `opslint bind --help`)"),
        (
            ["--model", "lama"],
            "--model lama: no model with slots is called that; there are llama; did you mean `llama`?",
        ),
        (["--config", "jobs.yaml"], "--config jobs.yaml: No such file or directory; did you mean `job.yaml`?"),
        (["--matrix", "--format", "json"], "--matrix is a table for text and markdown; json always holds every slot"),
    ],
)
def test_errors(arguments: list[str], message: str, tree: Path) -> None:
    """What cannot be answered ends with 2 and one line."""
    assert opslint("bind", "veomni", *arguments, cwd=tree) == Outcome(2, "", f"opslint: error: {message}\n")


def test_job_files_are_checked(tree: Path) -> None:
    """A YAML file can be checked on its own if it configures a job; another one is nothing to check."""
    write_files(tree, {"veomni/arguments/two.py": TWO, "two.yaml": "a: {x: 1}\nb: {y: 1}\n"})
    outcome = opslint("two.yaml", "--output-format", "concise", cwd=tree)
    assert (outcome.status, outcome.err, outcome.out.splitlines()[-1]) == (1, "", "1 error in 1 of 1 file")
    assert outcome.out.startswith("two.yaml:2:5: error OPS602 unknown-config-key: `b.y` is no argument of a job")
    message = "nothing to check in job.yaml: no Python file, no document, and no YAML file that configures a job"
    assert opslint("job.yaml", cwd=tree) == Outcome(2, "", f"opslint: error: {message}\n")


@pytest.mark.parametrize(
    ("model", "closing"),
    [
        ("", "A job builds one model: `--model NAME` binds one model."),
        (
            "  model_path: org/Some-Llama\n",
            OTHERS.format("org/Some-Llama", "NAME"),
        ),
        (
            "  model_path: org/Some-Llama\n  model_type: second\n",
            OTHERS.format("second", "second"),
        ),
    ],
)
def test_file_for_another_model(model: str, closing: str, tree: Path) -> None:
    """Where several models were bound and some fail, the way out is said; a single model needs none."""
    second = LLAMA.replace("llama", "second")
    ops = "ops:\n  rms_norm_implementation: npu\n"
    write_files(
        tree,
        {
            JOB: f"{JOB_TEXT}\n\n@dataclass\nclass Outer:\n    model: Job = field(default_factory=Job)\n",
            second: (tree / LLAMA).read_text(),
            "job.yaml": f"model:\n{model}{''.join(f'  {line}' for line in ops.splitlines(True))}",
        },
    )
    outcome = opslint("bind", "veomni", "--config", "job.yaml", cwd=tree)
    assert (outcome.status, outcome.out.splitlines()[-1]) == (1, closing)
    one = opslint("bind", "veomni", "--config", "job.yaml", "--model", "second", cwd=tree)
    assert (one.status, one.out.splitlines()[-1]) == (
        1,
        "1 model on gpu:90, with job.yaml: 1 bound, 0 eager, 1 cannot be bound.",
    )


def test_success(tree: Path) -> None:
    """Where every slot is bound, the command ends with 0."""
    assert opslint("bind", "--format", "json", cwd=tree).status == 0
