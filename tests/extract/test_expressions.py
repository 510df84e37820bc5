"""Uses of names, calls and entry strings inside expressions."""

from __future__ import annotations

import pytest
from support.facts import facts_of, written

from veomni_opslint.conditions import TRUE, Condition
from veomni_opslint.facts import Call, Ref

A, B = ("name", "a"), ("name", "b")


def refs_of(text: str) -> list[tuple[str, bool]]:
    """Names used and whether they are called, in order; what is written there is checked."""
    refs = facts_of(text, deep=True).refs
    assert [ref for ref in refs if written(text, ref.span) != ref.name] == []
    return [(ref.name, ref.call) for ref in sorted(refs, key=lambda ref: ref.span)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [("a", False)]),
        ("a.b.c", [("a.b.c", False)]),
        ("a.b()", [("a.b", True)]),
        ("a()()", [("a", True)]),
        ("a().b.c()", [("a", True)]),
        ("a(b, *c, d=e, **f)", [("a", True), ("b", False), ("c", False), ("e", False), ("f", False)]),
        ("a[b].c", [("a", False), ("b", False)]),
        ("{a: b, **c}", [("a", False), ("b", False), ("c", False)]),
        ("[a for b in c if d]", [("a", False), ("c", False), ("d", False)]),
        ("lambda b: a + b", [("a", False)]),
        ("lambda b=a: b", [("a", False)]),
        ("a; a; a()", [("a", True)]),
        ("a.b(); a.b; a.b()", [("a.b", True)]),
        ("if a:\n    a", [("a", False), ("a", False)]),
        ("é = 'ü'; a", [("a", False)]),
        ("a.b = c", [("a.b", False), ("c", False)]),
        ("a[0] += b", [("a", False), ("b", False)]),
        ("del a.b", [("a.b", False)]),
        ("print(a)", [("a", False)]),
        ("print = b\nprint(a)", [("b", False), ("print", True), ("a", False)]),
        ("import os\nos.environ", [("os.environ", False)]),
        ("def f(x):\n    x.y; z = a; z", [("a", False)]),
        ("def f(self):\n    self.g(); self.h.i", [("self.g", True)]),
        ("def f():\n    import m\n    m.n()", [("m.n", True)]),
        ("def f():\n    def g(): pass\n    g()", [("g", True)]),
        ("def f():\n    global x\n    x = a\n    x", [("a", False), ("x", False)]),
        ("class C:\n    x = a\n    def f(self): x", [("a", False), ("x", False)]),
        ("raise a from b", [("a", False), ("b", False)]),
        ("@a\ndef f(): pass", [("a", False)]),
        ("try:\n    pass\nexcept a: pass", [("a", False)]),
        ("match a:\n    case b.c if d: pass", [("a", False), ("b.c", False), ("d", False)]),
        ("async def f():\n    await a; yield b; return c", [("a", False), ("b", False), ("c", False)]),
    ],
)
def test_names(text: str, expected: list[tuple[str, bool]]) -> None:
    """Names that are not plain locals or built in, each once under one condition, at its first call if it has one."""
    assert refs_of(text) == expected


def test_names_in_f_strings() -> None:
    """Names in the holes of f-strings and of their formats are used."""
    assert sorted(ref.name for ref in facts_of("f'{a} {b:{c.d}}'\n").refs) == ["a", "b", "c.d"]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("mark", TRUE),
        ("a and mark", A),
        ("a and b and mark", ("and", A, B)),
        ("a or mark", ("not", A)),
        ("(a or b) and mark", ("or", A, B)),
        ("mark and a", TRUE),
        ("mark if a else 0", A),
        ("0 if a else mark", ("not", A)),
        ("[mark for x in y if a]", A),
        ("[0 for x in mark if a]", TRUE),
        ("{mark: 0 for x in y if a if b}", ("and", A, B)),
        ("(x := a) and mark", A),
        ("x = a\nx and mark", A),
        ("f(a and g(mark))", A),
        ("lambda: a and mark", A),
        ("x = [a for a in y]\na and mark", A),
        ("g = d.is_npu()\nx = [g for g in y]\nif g:\n    mark", ("call", "d.is_npu", ())),
    ],
)
def test_when(text: str, when: Condition) -> None:
    """The condition under which an operand, a branch or an element is evaluated."""
    assert [ref.when for ref in facts_of(text, deep=True).refs if ref.name == "mark"] == [when]


def test_first_use_is_the_first() -> None:
    """Of several uses in one expression the first as written is given."""
    text = "f(x.a, [x.a, {x.a: x.a}], k=x.a) + x.a\n"
    assert [ref for ref in facts_of(text).refs if ref.name == "x.a"] == [
        Ref(0, "x.a", (1, 2, 1, 5), TRUE, call=False, handled=False, import_handled=False)
    ]


def test_device_namespaces_are_given_each_time() -> None:
    """Uses of an NPU package are findings of their own, also under another name."""
    text = "import torch_npu as n\ntorch_npu.a; torch_npu.a; torch.npu.b(); torch.npu.b(); n.c; n.c; torch.cuda.d\n"
    refs = sorted(facts_of(text).refs, key=lambda ref: ref.span)
    assert [ref.name for ref in refs] == [
        "torch_npu.a", "torch_npu.a", "torch.npu.b", "torch.npu.b", "n.c", "n.c", "torch.cuda.d",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "handled", "import_handled"),
    [
        ("m.f()", False, False),
        ("try:\n    m.f()\nexcept ImportError:\n    pass", True, True),
        ("try:\n    m.f()\nexcept AttributeError:\n    pass", True, False),
        ("try:\n    m.f()\nexcept RuntimeError:\n    pass", True, False),
        ("try:\n    m.f()\nexcept AttributeError:\n    raise", False, False),
        ("try:\n    m.f()\nexcept ImportError:\n    pass\nm.f()", False, False),
        ("m.f()\ntry:\n    m.f()\nexcept ImportError:\n    pass", False, False),
        ("m.f\ntry:\n    m.f()\nexcept ImportError:\n    pass", True, True),
        ("try:\n    m.f\nexcept ImportError:\n    pass\nm.f()", False, False),
        ("try:\n    m.f()\nexcept ImportError:\n    pass\nm.f", True, True),
    ],
)
def test_handled(text: str, handled: bool, import_handled: bool) -> None:
    """A call is handled where every call of that name, under one condition, is."""
    assert [(ref.call, ref.handled, ref.import_handled) for ref in facts_of(text).refs if ref.name == "m.f"] == [
        (True, handled, import_handled)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(a, b, k=1)", Call(0, "f", (1, 0, 1, 12), TRUE, 2, False, ("k",), False, 0, False, False)),
        ("f(*a, b, **c)", Call(0, "f", (1, 0, 1, 13), TRUE, 1, True, (), True, 0, False, False)),
        ("x, y = f()", Call(0, "f", (1, 7, 1, 10), TRUE, 0, False, (), False, 2, False, False)),
        ("x, *y = f()", Call(0, "f", (1, 8, 1, 11), TRUE, 0, False, (), False, 1, True, False)),
        ("with raises(E):\n    f()", Call(0, "f", (2, 4, 2, 7), TRUE, 0, False, (), False, 0, False, True)),
        ("if a:\n    m.f()", Call(0, "m.f", (2, 4, 2, 9), A, 0, False, (), False, 0, False, False)),
    ],
)
def test_calls(text: str, expected: Call) -> None:
    """Deep facts say what a call passes and what becomes of its result."""
    assert [call for call in facts_of(text, deep=True).calls if call.name.endswith("f")] == [expected]
    assert facts_of(text).calls == ()


@pytest.mark.parametrize("name", ["len", "print"])
def test_calls_of_builtins_are_left_out(name: str) -> None:
    """Nobody checks those."""
    assert facts_of(f"{name}(x)\n", deep=True).calls == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 'a.b:c'", ["a.b:c"]),
        ("f('a:b.c', k=['d:e'])", ["a:b.c", "d:e"]),
        ("x = ''' a.b:c '''", []),
        ("x = 'http://a.b'", []),
        ("x = 'a:1'", []),
        ("x = 'a: b'", []),
        ("x = f'a:{b}'", []),
        ("x = b'a:b'", []),
        ("'a:b'", ["a:b"]),
        ("é = 'ü'; x = 'a:b'", ["a:b"]),
    ],
)
def test_entry_strings(text: str, expected: list[str]) -> None:
    """Strings of the form ``module:attribute``, where they are written."""
    found = facts_of(text).entry_strings
    assert [value for value, _, _ in found] == expected
    assert [written(text, span).strip("'") for _, span, _ in found] == expected
