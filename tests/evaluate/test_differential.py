"""The evaluator against Python: generated packages are run in a child process, and the evaluator must say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluate.differential import Outcome, compare
from evaluate.generated_packages import package

SEEDS = range(7_000, 7_200)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """All generated packages, evaluated and run."""
    root: Path = tmp_path_factory.mktemp("generated")
    return compare({f"pkg{seed}": package(seed, idioms=2) for seed in SEEDS}, root)


def test_nothing_wrong_and_nothing_missing(outcome: Outcome) -> None:
    """Every spec that Python registers is said, in order, or its place is unresolved; and no other spec is said."""
    assert outcome.failures == []


def test_nearly_everything_known(outcome: Outcome) -> None:
    """At least 95 of 100 registrations are known."""
    assert outcome.known >= outcome.total * 0.95


def test_packages_are_sound(outcome: Outcome) -> None:
    """The generated packages can be imported, register enough, and have conditions that can be judged."""
    assert outcome.errors == []
    assert outcome.total > 10 * len(SEEDS)
    assert outcome.unjudged <= len(SEEDS) * 0.02
