"""What runs while a module is loaded, and the calls that lead there."""

from __future__ import annotations

from pathlib import Path

from support.models import model_of

from veomni_opslint.model.import_time import ImportTime

FILES = {
    "veomni/start.py": """\
from .steps import Step, first, never

first()
Step()
late = lambda: never()

if __name__ == "__main__":
    never()
""",
    "veomni/steps.py": """\
from .goal import goal


def first():
    # goal() is called below
    second()


def second():
    def inner():
        return goal()

    return inner


class Step:
    def __init__(self):
        self.value = goal()


def never():
    goal()
""",
    "veomni/goal.py": "def goal():\n    return 1\n",
}


def test_chains(tmp_path: Path) -> None:
    """Functions and constructors that the top level calls are entered; nested functions and scripts are not."""
    model = model_of(tmp_path, FILES)
    run = ImportTime(model.symbols, model.loading)
    found = [
        [(call.module, call.span[0], call.name) for call in chain]
        for chain in run.chains("veomni.start", lambda module, scope: module == "veomni.goal" and scope > 0)
    ]
    assert found == [[("veomni.start", 4, "Step"), ("veomni.steps", 18, "goal")]]
