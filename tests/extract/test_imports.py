"""Import statements and dynamic imports, with what they bind and when they run."""

from __future__ import annotations

import pytest
from support.facts import facts_of, written

from veomni_opslint.facts import Binding, Import

TRUE = ("true",)


def described(imported: Import, text: str) -> tuple[str, str, str, str, str]:
    """How, level and module, imported names and what they are bound to, the name bound, and the written text."""
    names = " ".join(f"{one.name}:{one.bound}" for one in imported.names)
    return imported.how, "." * imported.level + imported.module, names, imported.bound, written(text, imported.span)


def imports_of(text: str) -> list[tuple[str, str, str, str, str]]:
    """All imports of a file; what is written of every name is checked."""
    facts = facts_of(text)
    for one in facts.imports:
        for name in one.names:
            part = written(text, name.span)
            assert part in (name.name, f"{name.name} as {name.bound}") or one.how == "__import__"
    return [described(one, text) for one in facts.imports]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [("import", "a", "", "a", "import a")]),
        ("import a.b.c", [("import", "a.b.c", "", "a", "import a.b.c")]),
        ("import a.b as c", [("import", "a.b", "", "c", "import a.b as c")]),
        ("import a.b, c as d", [("import", "a.b", "", "a", "a.b"), ("import", "c", "", "d", "c as d")]),
        ("from a import b", [("from", "a", "b:b", "", "from a import b")]),
        ("from a.b import c as d, e", [("from", "a.b", "c:d e:e", "", "from a.b import c as d, e")]),
        ("from a import *", [("from", "a", "*:*", "", "from a import *")]),
        ("from . import a", [("from", ".", "a:a", "", "from . import a")]),
        ("from ... import a", [("from", "...", "a:a", "", "from ... import a")]),
        ("from ..a.b import c", [("from", "..a.b", "c:c", "", "from ..a.b import c")]),
        ("from a import (\n    b,\n    c,\n)", [("from", "a", "b:b c:c", "", "from a import (\n    b,\n    c,\n)")]),
        ("é = 'ü'; import a", [("import", "a", "", "a", "import a")]),
        ("import_module('a.b')", [("import_module", "a.b", "", "", "import_module('a.b')")]),
        ("importlib.import_module(name='a')", [("import_module", "a", "", "", "importlib.import_module(name='a')")]),
        ("x.y.import_module('a')", [("import_module", "a", "", "", "x.y.import_module('a')")]),
        ("n = 'a.b'\nimport_module(n)", [("import_module", "a.b", "", "", "import_module(n)")]),
        ("import_module('.a', __package__)", [("import_module", ".a", "", "", "import_module('.a', __package__)")]),
        ("import_module('..a', __name__)", [("import_module", "..a", "", "", "import_module('..a', __name__)")]),
        ("import_module('.c', 'a.b')", [("import_module", "a.b.c", "", "", "import_module('.c', 'a.b')")]),
        (
            "import_module('..c', package='a.b')",
            [("import_module", "a.c", "", "", "import_module('..c', package='a.b')")],
        ),
        ("__import__('a.b')", [("__import__", "a.b", "", "", "__import__('a.b')")]),
        (
            "__import__('a', fromlist=['b', 'c'])",
            [("__import__", "a", "b: c:", "", "__import__('a', fromlist=['b', 'c'])")],
        ),
        (
            "__import__('a', globals(), None, ('b',), 2)",
            [("__import__", "..a", "b:", "", "__import__('a', globals(), None, ('b',), 2)")],
        ),
        ("x = y or import_module('a')", [("import_module", "a", "", "", "import_module('a')")]),
        ("import_module('.a')", []),
        ("import_module('.a', x)", []),
        ("import_module('.', 'a')", []),
        ("import_module('')", []),
        ("import_module()", []),
        ("import_module(x)", []),
        ("import_module(1)", []),
        ("import_module(f'a.{x}')", [("import_module", "a", "", "", "import_module(f'a.{x}')")]),
        ("import_module(f'{x}.a')", []),
        ("import_module(f'a{x}')", []),
        ("import_module(f'a.{x!r}')", [("import_module", "a", "", "", "import_module(f'a.{x!r}')")]),
        ("import_module('a' + '.b')", [("import_module", "a.b", "", "", "import_module('a' + '.b')")]),
        ("import_module('a.' + x)", []),
        ("import_module('{}.b'.format('a'))", [("import_module", "a.b", "", "", "import_module('{}.b'.format('a'))")]),
        ("import_module('{0}.b'.format('a'))", []),
        (
            "import_module('.'.join(['a', 'b']))",
            [("import_module", "a.b", "", "", "import_module('.'.join(['a', 'b']))")],
        ),
        ("import_module('.'.join(x))", []),
        ("im = importlib.import_module\nim('a')", [("import_module", "a", "", "", "im('a')")]),
        ("def im(x): pass\nim('a')", []),
        (
            "for x in ('a', 'b'): import_module(x)",
            [("import_module", "a", "", "", "import_module(x)"), ("import_module", "b", "", "", "import_module(x)")],
        ),
        ("for x in ('a', 'b'):\n    x = f(x)\n    import_module(x)", []),
        ("for x in ('a', 'b'): pass\nimport_module(x)", []),
        ("[import_module(x) for x in ('a',)]", [("import_module", "a", "", "", "import_module(x)")]),
        ("[import_module(x) for x in ('a', y)]", []),
        ("(lambda: import_module('a'))()", [("import_module", "a", "", "", "import_module('a')")]),
        ("import_module(*x)", []),
        ("f(import_module)", []),
        ("'import a'", []),
        ("# import a", []),
    ],
)
def test_forms(text: str, expected: list[tuple[str, str, str, str, str]]) -> None:
    """Every form in which a known module is imported (or one in a known package), and none in which it is not known."""
    assert imports_of(text) == expected


@pytest.mark.parametrize(
    ("text", "handled"),
    [
        ("try:\n    import a\nexcept ImportError:\n    pass", True),
        ("try:\n    import a\nexcept ModuleNotFoundError:\n    a = None", True),
        ("try:\n    import a\nexcept (OSError, ImportError) as error:\n    pass", True),
        ("try:\n    import a\nexcept builtins.ImportError:\n    pass", True),
        ("try:\n    import a\nexcept Exception:\n    pass", True),
        ("try:\n    import a\nexcept:\n    pass", True),
        ("try:\n    if x:\n        import a\nexcept ImportError:\n    pass", True),
        ("try:\n    try:\n        import a\n    finally:\n        pass\nexcept ImportError:\n    pass", True),
        ("try:\n    def f():\n        import a\nexcept ImportError:\n    pass", False),
        ("try:\n    import a\nexcept ImportError:\n    raise", False),
        ("try:\n    import a\nexcept ImportError as error:\n    print()\n    raise RuntimeError() from error", False),
        ("try:\n    import a\nexcept KeyError:\n    pass", False),
        ("try:\n    import a\nfinally:\n    pass", False),
        ("try:\n    pass\nexcept ImportError:\n    import a", False),
        ("try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    import a", False),
        ("try:\n    pass\nexcept ImportError:\n    pass\nfinally:\n    import a", False),
        ("try:\n    pass\nexcept ImportError:\n    pass\nimport a", False),
        ("with suppress(ImportError):\n    import a", True),
        ("with contextlib.suppress(KeyError, ImportError):\n    import a", True),
        ("with open(x), suppress(ModuleNotFoundError):\n    import a", True),
        ("with suppress(KeyError):\n    import a", False),
        ("with open(x):\n    import a", False),
        ("with suppress(ImportError):\n    pass\nimport a", False),
    ],
)
def test_handled(text: str, handled: bool) -> None:
    """An import is handled where a missing module lets the code go on."""
    (imported,) = facts_of(text, deep=True).imports
    assert imported.handled is handled


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("import a", TRUE),
        ("if x:\n    import a", ("name", "x")),
        ("if x.y:\n    pass\nelse:\n    import a", ("not", ("name", "x.y"))),
        ("if x:\n    pass\nelif y:\n    import a", ("and", ("not", ("name", "x")), ("name", "y"))),
        ("if x: from b import a", ("name", "x")),
        ("if not f():\n    raise E\nimport a", ("call", "f", ())),
        ("assert f()\nimport a", ("call", "f", ())),
        ("x and import_module('a')", ("name", "x")),
        ("y = import_module('a') if x else z", ("name", "x")),
        ("import torch_npu, a", ("available", "torch_npu")),
        ("from flash_attn import x\nimport a", ("available", "flash_attn")),
        ("pytest.importorskip('b')\nimport a", ("available", "b")),
        ("import_module('triton')\nimport a", ("available", "triton")),
        ("[import_module('a') for x in y if z]", ("name", "z")),
        ("match x:\n    case 'npu':\n        import a", ("cmp", "Eq", ("name", "x"), ("const", "npu"))),
        ("sys.exit()\nimport a", ("false",)),
    ],
)
def test_when(text: str, when: tuple[object, ...]) -> None:
    """The condition is that of the path to the last import."""
    assert facts_of(text, deep=True).imports[-1].when == when


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b", [("a", "a")]),
        ("import a.b as c", [("c", "a.b")]),
        ("from a import b as c, d", [("c", "b"), ("d", "d")]),
        ("class C:\n    from a import b", [("b", "b")]),
        ("if x:\n    import a", [("a", "a")]),
    ],
)
def test_bindings(text: str, expected: list[tuple[str, str]]) -> None:
    """At module and class level every bound name has its import and the name in it."""
    facts = facts_of(text)
    bindings = [one for one in facts.bindings if one.kind == "import"]
    assert [(one.name, one.imported) for one in bindings] == expected
    assert [facts.imports[one.import_index].when for one in bindings] == [one.when for one in bindings]


def test_functions_bind_nothing_outside() -> None:
    """What a function imports is its own."""
    facts = facts_of("def f():\n    import a\n    from b import c\n")
    assert [one.scope for one in facts.imports] == [1, 1]
    assert facts.bindings == (Binding(0, "f", "scope", (1, 0, 3, 19), TRUE, target_scope=1),)
