"""Conditions on the paths through ``try`` and ``with``."""

from __future__ import annotations

import pytest
from support.facts import when_marked

from veomni_opslint.conditions import FALSE, TRUE, Condition, atoms

A = ("name", "a")
RAISED = ("opaque", 1, 0, "raised")
NPU = ("available", "torch_npu")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try:\n    mark\nexcept E:\n    mark\nmark", [TRUE, RAISED, TRUE]),
        ("try:\n    import torch_npu\n    mark\nexcept ImportError:\n    mark\nmark", [NPU, ("not", NPU), TRUE]),
        ("try:\n    import torch_npu\nexcept ImportError:\n    raise\nmark", [NPU]),
        ("try:\n    import torch_npu\nexcept ImportError:\n    pass\nelse:\n    mark", [NPU]),
        (
            "try:\n    import torch_npu\nexcept ImportError:\n    ok = False\nelse:\n    ok = True\nif ok:\n    mark",
            [NPU],
        ),
        ("ok = True\ntry:\n    import torch_npu\nexcept ImportError:\n    ok = False\nif ok:\n    mark", [NPU]),
        ("try:\n    import torch_npu\nexcept KeyError:\n    mark", [RAISED]),
        ("try:\n    import other\nexcept ImportError:\n    mark", [("not", ("available", "other"))]),
        ("try:\n    from other import x\nexcept ImportError:\n    mark", [("not", ("available", "other.x"))]),
        ("try:\n    from .other import x\nexcept ImportError:\n    mark", [RAISED]),
        ("try:\n    raise E\nexcept E:\n    mark\nmark", [RAISED, RAISED]),
        ("try:\n    pass\nfinally:\n    mark\nmark", [TRUE, TRUE]),
        ("try:\n    pass\nfinally:\n    raise E\nmark", [FALSE]),
        ("if a:\n    try:\n        mark\n    except E:\n        raise\nmark", [A, TRUE]),
    ],
)
def test_try(text: str, expected: list[Condition]) -> None:
    """Whether a package is there decides which way a ``try`` around its import takes."""
    assert when_marked(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with x:\n    mark\nmark", [TRUE, TRUE]),
        ("with x:\n    if a:\n        raise E\nmark", [("not", A)]),
        ("with suppress(ImportError):\n    import torch_npu\n    mark\nmark", [NPU, TRUE]),
        ("with suppress(KeyError):\n    import torch_npu\nmark", [NPU]),
        ("with a as b:\n    if b:\n        mark", [("opaque", 1, 10, "b")]),
    ],
)
def test_with(text: str, expected: list[Condition]) -> None:
    """A ``with`` is passed like its body, unless its manager lets the code go on after an error."""
    assert when_marked(text) == expected


def test_names_that_grow_beyond_use() -> None:
    """A name of which too much would have to be said is not known."""
    text = "x = a\n" + "".join(f"if b{index}:\n    x = c{index}\n" for index in range(60)) + "if x:\n    mark\n"
    (condition,) = when_marked(text)
    assert len(list(atoms(condition))) < 40
    assert any(atom[0] == "opaque" for atom in atoms(condition))
