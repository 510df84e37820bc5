"""What functions return, as far as their text says."""

from __future__ import annotations

import ast

import pytest

from veomni_opslint.model.return_shapes import Body, Shape

PAIR = ast.parse("def pair(a, b):\n    return a, b").body[0]
CALLED: dict[str, Body | int] = {"Point": 3, "Saved": 0}


def body_of(text: str) -> Body:
    """The function in *text*; ``pair``, ``Point`` and ``Saved`` are known to it."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert isinstance(PAIR, ast.FunctionDef)
    pair = Body(PAIR, tuple(PAIR.body), CALLED.get)
    return Body(node, tuple(node.body), lambda name: pair if name == "pair" else CALLED.get(name))


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("x, w", 2),
        ("(x,)", 1),
        ("x, w, 1", 3),
        ("()", 0),
        ("(x, *w)", None),
        ("None", "none"),
        ("1", "other"),
        ("{'output': x}", "other"),
        ("x", "one"),
        ("x - w", "one"),
        ("x * unknown()", "one"),
        ("unknown() * other()", None),
        ("(x, w) + (1,)", 3),
        ("unknown() + (1,)", None),
        ("x.to(w.dtype)", "one"),
        ("x.chunk(2)", None),
        ("(x + w).float()", "one"),
        ("kernels.add(x, w)", None),
        ("self.kernel.mul(x, w)", None),
        ("torch.nn.functional.silu(x)", "one"),
        ("torch.cat((x, w))", "one"),
        ("torch.chunk(x, 2)", None),
        ("F.rms_norm(x, w)", "one"),
        ("kernel(x, w)", None),
        ("pair(x, w)", 2),
        ("Point(x, w, 1)", 3),
        ("Saved(x)", "other"),
        ("(x, w) if w is None else (x, None)", 2),
        ("(x, w) if w is None else x", "one"),
        ("kernel(x) if w is None else kernel(w)", None),
        ("local", 2),
        ("first", "one"),
        ("either", None),
        ("nowhere", None),
        ("self", None),
    ],
)
def test_shape_of_a_returned_expression(expression: str, shape: Shape) -> None:
    """The number of values, or why there is none; unknown where the text does not say."""
    text = (
        "def forward(self, x, w):\n"
        "    local = x, w\n"
        "    first, second = kernel(x)\n"
        "    either = x\n"
        "    either = kernel(x)\n"
        f"    return {expression}\n"
    )
    assert [one.shape for one in body_of(text).returned()] == [shape]


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        (["return x, w"], [(2, 2)]),
        (["if w:", "    return x, w", "raise ValueError"], [(3, 2)]),
        (["if w:", "    return x, w"], [(3, 2), (2, "none")]),
        (["if w:", "    return x, w", "else:", "    return x"], [(3, 2), (5, "one")]),
        (["with torch.no_grad():", "    return x, w"], [(3, 2)]),
        (["with suppress(KeyError):", "    return x, w"], [(3, 2), (2, "none")]),
        (["try:", "    return x, w", "except KeyError:", "    raise"], [(3, 2)]),
        (["try:", "    return x, w", "except KeyError:", "    pass"], [(3, 2), (2, "none")]),
        (["while True:", "    return x, w"], [(3, 2)]),
        (["match w:", "    case 1:", "        return x, w", "    case _:", "        raise KeyError"], [(4, 2)]),
        (["match w:", "    case 1:", "        return x, w"], [(4, 2), (2, "none")]),
        (["def inner():", "    return x", "return inner(), w"], [(4, 2)]),
        (["yield x", "return x"], []),
        (["return"], [(2, "none")]),
    ],
)
def test_ways_to_end(lines: list[str], ends: list[tuple[int, Shape]]) -> None:
    """Each return, and the last statement where the end can be reached, with its line."""
    text = "def forward(x, w):\n" + "".join(f"    {line}\n" for line in lines)
    assert [(one.node.lineno, one.shape) for one in body_of(text).returned()] == ends


def test_branches_that_have_to_agree() -> None:
    """A conditional expression whose branches differ is not known where both of them count."""
    body = body_of("def f(a, b):\n    return (a,) if b else (a, b)")
    assert [one.shape for one in body.returned()] == [1]
    assert [one.shape for one in body._replace(worst=False).returned()] == [None]


def test_body_that_could_not_be_read() -> None:
    """A function without statements, which is one that could not be read, returns nothing that is known."""
    assert list(body_of("def f(a):\n    pass")._replace(statements=()).returned()) == []
