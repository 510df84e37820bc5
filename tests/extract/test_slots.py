"""Creations of slots: what each is for, and whether binding can see it."""

from __future__ import annotations

import pytest
from support.facts import facts_of, written

from veomni_opslint.conditions import TRUE
from veomni_opslint.facts import SlotCall


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X = OpSlot('a', 'b')", ("a", "b")),
        ("X = OpSlot(op_name='a', variant='b')", ("a", "b")),
        ("X = OpSlot('a', variant='b')", ("a", "b")),
        ("X = OpSlot('a')", ("a", None)),
        ("X = OpSlot()", (None, None)),
        ("X = m.OpSlot('a', 'b')", ("a", "b")),
        ("X = f().OpSlot('a', 'b')", ("a", "b")),
        ("from m import OpSlot as S\nX = S('a', 'b')", ("a", "b")),
        ("S = OpSlot\nX = S('a', 'b')", ("a", "b")),
        ("V = 'b'\nX = OpSlot('a', V)", ("a", "b")),
        ("X = OpSlot('a' 'b', 'c' + 'd')", ("ab", "cd")),
        ("V = 'b'\nX = OpSlot(f'a_{V}', f'{V}')", ("a_b", "b")),
        ("X = OpSlot(f'{V!r}', f'{V:>3}')", (None, None)),
        ("X = OpSlot(V, m.W)", (None, None)),
        ("X = OpSlot(*args)", (None, None)),
        ("X = OpSlot(1, None)", (None, None)),
    ],
)
def test_op_slots(text: str, expected: tuple[str | None, str | None]) -> None:
    """Op and variant, as far as the file tells."""
    (slot,) = facts_of(text).slots
    assert (slot.kind, slot.op_name, slot.variant, slot.var) == ("op", *expected, "X")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("X = OpsConfigSlot('a')", "a"),
        ("X = OpsConfigSlot(field_name='a')", "a"),
        ("from m import OpsConfigSlot as C\nX = C('a')", "a"),
        ("X = OpsConfigSlot(a)", None),
    ],
)
def test_config_slots(text: str, field: str | None) -> None:
    """The field of a config slot."""
    (slot,) = facts_of(text).slots
    assert (slot.kind, slot.op_name, slot.variant) == ("config", field, None)


@pytest.mark.parametrize(
    ("text", "op_parts", "variant_parts"),
    [
        ("OpSlot(N, m.V)", (("name", "N"),), (("name", "m.V"),)),
        ("OpSlot(f'a_{N}', 'b' + V)", (("text", "a_"), ("name", "N")), (("text", "b"), ("name", "V"))),
        ("OpSlot(f'a_{N()}', f'{N}{m[0]}')", (), ()),
        ("N = 'x'\nOpSlot(N + V, '')", (("text", "x"), ("name", "V")), (("text", ""),)),
    ],
)
def test_parts(text: str, op_parts: tuple[object, ...], variant_parts: tuple[object, ...]) -> None:
    """What other files may know is said by its name."""
    (slot,) = facts_of(text).slots
    assert (slot.op_name_parts, slot.variant_parts) == (op_parts, variant_parts)


@pytest.mark.parametrize(
    ("text", "names", "var"),
    [
        ("X = OpSlot('a', 'b')", ("X",), "X"),
        ("X: OpSlot = OpSlot('a', 'b')", ("X",), "X"),
        ("X = Y = OpSlot('a', 'b')", ("X", "Y"), "Y"),
        ("X, Y = OpSlot('a', 'b'), 1", ("X",), "X"),
        ("X = OpSlot('a', 'b') if c else None", ("X",), "X"),
        ("X = c or OpSlot('a', 'b')", ("X",), "X"),
        ("X = (Y := OpSlot('a', 'b'))", ("X", "Y"), "Y"),
        ("f(X := OpSlot('a', 'b'))", ("X",), "X"),
        ("if c:\n    X = OpSlot('a', 'b')", ("X",), "X"),
        ("def f():\n    global X\n    X = OpSlot('a', 'b')", ("X",), "X"),
        ("def f():\n    X = OpSlot('a', 'b')", (), "X"),
        ("class C:\n    X = OpSlot('a', 'b')", (), "X"),
        ("class C:\n    def f(self):\n        self.X = OpSlot('a', 'b')", (), ""),
        ("X.y = OpSlot('a', 'b')", (), ""),
        ("X['y'] = OpSlot('a', 'b')", (), ""),
        ("X = [OpSlot('a', 'b')]", (), ""),
        ("X = {'k': OpSlot('a', 'b')}", (), ""),
        ("X = f(OpSlot('a', 'b'))", (), ""),
        ("X = OpSlot('a', 'b').y", (), ""),
        ("OpSlot('a', 'b')", (), ""),
        ("def f(): return OpSlot('a', 'b')", (), ""),
    ],
)
def test_names(text: str, names: tuple[str, ...], var: str) -> None:
    """Binding sees the slots that are plain attributes of the module."""
    (slot,) = facts_of(text).slots
    assert (slot.names, slot.var, slot.at_module_level) == (names, var, bool(names))
    assert written(text, slot.span) == "OpSlot('a', 'b')"


def test_slot_in_full() -> None:
    """Everything that is known of one."""
    assert facts_of("if a:\n    X = OpSlot('b', V)\n").slots == (
        SlotCall(
            kind="op", scope=0, var="X", op_name="b", variant=None, span=(2, 8, 2, 22), when=("name", "a"),
            at_module_level=True, callee="OpSlot", names=("X",), op_name_parts=(("text", "b"),),
            variant_parts=(("name", "V"),),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["X = OpSlot", "X = 'OpSlot()'", "X = NotOpSlot('a', 'b')", "class OpSlot: pass"])
def test_no_slot(text: str) -> None:
    """Naming the class creates none."""
    assert facts_of(text).slots == ()


def test_order() -> None:
    """Slots of one statement are in the order in which they are written."""
    text = "X = [OpSlot('a', 'b'), {OpSlot('c', 'd'): OpSlot('e', 'f')}]; Y = OpSlot('g', 'h')\n"
    assert [(slot.op_name, slot.when) for slot in facts_of(text).slots] == [(name, TRUE) for name in "aceg"]
