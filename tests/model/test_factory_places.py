"""Where the value of ``factory=`` is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_of

from veomni_opslint.model.factory_places import given_at

HEAD = """from functools import partial

from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def first(limit=7.0):
    return max


def second():
    return min


def register(name, factory, hardware=HardwareRequirement("gpu")):
    KERNEL_REGISTRY.register(KernelSpec(name, "swiglu_mlp", "standard", factory, hardware))


"""
LOOP = "    KERNEL_REGISTRY.register(KernelSpec(name, 'swiglu_mlp', 'standard', factory, HardwareRequirement('gpu')))\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("register('a', first)\nregister('b', factory=second)\n", ["first", "second"]),
        ("for name, factory in (('a', first), ('b', second)):\n" + LOOP, ["first", "second"]),
        ("for name, factory in {'a': first, 'b': second}.items():\n" + LOOP, ["first", "second"]),
        ("TABLE = [('a', second), ('b', first)]\nfor name, factory in TABLE:\n" + LOOP, ["second", "first"]),
        (
            "for name, factory in (('a', partial(first, 1)), ('b', lambda: max)):\n    register(name, factory)\n",
            ["partial(first, 1)", "lambda: max"],
        ),
        ("for name, factory in zip(('a', 'b'), (first, second)):\n" + LOOP, ["factory", "factory"]),
    ],
)
def test_given_at(tmp_path: Path, text: str, expected: list[str]) -> None:
    """The element of the table or the argument of the call; ``factory=`` where that cannot be known."""
    model = model_of(tmp_path, {"veomni/ops/kernels/swiglu/__init__.py": HEAD + text})
    specs = [spec for spec in model.registrations.kernel_specs if spec.op_name == "swiglu_mlp"]
    places = [given_at(model, spec, spec.factory) for spec in specs]
    lines = (HEAD + text).split("\n")
    assert [lines[place.line - 1][place.column - 1 : place.end_column - 1] for place in places] == expected
