"""Which workflows run tests on an NPU, and what their pytest commands run."""

from __future__ import annotations

import pytest

from veomni_opslint.model.workflows import find_npu_workflows

STEPS = "jobs:\n  tests:\n    steps:\n      - run: |\n          {}\n"


def runs(command: str, path: str, *names: str) -> bool:
    """Whether a workflow with this command runs a test of the file."""
    (workflow,) = find_npu_workflows({".github/workflows/npu.yml": STEPS.format(command).encode()}, {"npu"})
    return workflow.runs(path, names)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest", True),
        ("pytest -v -n 4", True),
        ("python -m pytest tests/ops/test_a.py", True),
        ("uv run --frozen pytest ./tests/ops/", True),
        ("cd tests && py.test ops/test_a.py::TestA::test_one", True),
        ("pytest tests/ops/test_[ab].py", True),
        ("pytest tests/*/test_a.py", True),
        ("pytest tests/lora; pytest tests/models", False),
        ("pytest tests/op", False),
        ("pytest tests/ops --ignore tests/ops/test_a.py", False),
        ("pytest tests/ops --ignore=tests/lora", True),
        ("pytest tests/ops --ignore-glob='*/test_a*'", False),
        ("pytest tests -k two", False),
        ("pytest tests -k 'one and not (two or three)'", True),
        ("pytest tests -k 'not one'", False),
        ("pytest tests -k test_a.py", True),
        ("pytest tests -k $NAMES", True),
        ("pytest --unknown value", True),
        ("pytest $TESTS", True),
        ("pytest tests/lora; make test-npu", True),
        ("pytest tests/lora; bash scripts/test_npu.sh", True),
        ("pytest tests/lora; torchrun --nproc 8 tests/ops/test_a.py", True),
        ("pytest tests/lora; # pytest tests/ops", False),
        ("pytest tests/lora; pip install pytest", False),
        ("pytest tests/lora; echo 'not closed", False),
    ],
)
def test_what_a_command_runs(command: str, expected: bool) -> None:
    """Paths, globs, node ids, -k and --ignore count; what cannot be read may run everything."""
    assert runs(command, "tests/ops/test_a.py", "test_one") is expected


def test_lines_of_commands() -> None:
    """Continued lines, scripts of one line, steps that are switched off; a workflow that is used has no line here."""
    text = (
        "name: tests\njobs:\n  a:\n    steps:\n      - run: pytest tests/a\n      - run: |\n          echo\n"
        "          pytest \\\n            tests/b\n          pytest tests/c\n      - if: ${{ false }}\n"
        "        run: pytest d\n  b: {uses: ./.github/workflows/more.yml}\n  c: {if: false, steps: [{run: pytest e}]}\n"
    )
    sources = {
        ".github/workflows/npu_tests.yml": text.encode(),
        ".github/workflows/more.yml": STEPS.format("pytest tests/ops").encode(),
        ".github/workflows/ascend-image.yml": b"jobs: {a: {steps: [{run: docker build .}]}}",
        ".github/workflows/input.yml": STEPS.format("pytest").encode(),
        ".github/workflows/npu-broken.yml": b"jobs: [pytest",
    }
    (workflow,) = find_npu_workflows(sources, ("npu", "ascend"))
    assert workflow.path == ".github/workflows/npu_tests.yml"
    assert [(one.line, one.arguments) for one in workflow.commands] == [
        (5, ("tests/a",)),
        (8, ("tests/b",)),
        (10, ("tests/c",)),
        (0, ("tests/ops",)),
    ]
