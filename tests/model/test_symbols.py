"""What names stand for, across modules."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.facts import facts_of
from support.package_programs import PackageProgram, what_names_are
from support.symbols import shown, symbols_of

from veomni_opslint.model.project_modules import module_name

PROGRAMS = 60


def test_same_as_python(tmp_path: Path) -> None:
    """In packages of random re-exports every name can be what it is when the package is imported."""
    programs = [PackageProgram(random.Random(index), f"p{index}") for index in range(PROGRAMS)]
    for program in programs:
        program.build()
    truth = what_names_are(tmp_path, programs)
    wrong = []
    for program in programs:
        symbols = symbols_of(program.files)
        for module, questions in program.questions.items():
            for question, (kind, home, qualname) in zip(questions, truth[module], strict=True):
                scope = 0
                if question.startswith("probe_"):
                    probe = question.removesuffix("()")
                    scope = next(one.index for one in symbols.modules[module].scopes if one.name == probe)
                found = shown(symbols, symbols.resolve(module, scope, "local" if scope else question))
                expected = {"module": f"module {home}", "scope": f"scope {home}:{qualname}"}.get(kind)
                right = expected in found if expected else any(one.startswith("value ") for one in found)
                if not right or any(one.startswith("missing ") for one in found):
                    wrong.append((module, question, found, expected or kind))
    assert wrong == []


PACKAGE = {
    "p/__init__.py": "from .a import f, C as D\nfrom . import b\nfrom .star import *\nimport os.path as path\n",
    "p/a.py": "import p.b\nfrom p.b import g as h\nfrom numpy import array\nimport torch.npu\n"
    "def f():\n    from .b import g\n    x = 1\n    def inner(): pass\n    inner()\n"
    "class C:\n    y = 1\n    def m(self): self.n()\n    def n(self): pass\n    class E:\n        def o(self): pass\n"
    "alias = f\nmember = C.m\nvalue = 3\nattribute = value.x\nlost = nowhere\nitself = itself\n",
    "p/b.py": "def g(): pass\ntry:\n    from .a import f as either\nexcept ImportError:\n    either = None\n",
    "p/star.py": "from .deeper import *\ndef s(): pass\ndef _private(): pass\n",
    "p/deeper.py": "__all__ = ['_shown']\ndef _shown(): pass\ndef d(): pass\n",
    "p/sub/__init__.py": "from .. import f\nfrom ..a import f as g\nfrom .leaf import leaf\n",
    "p/sub/leaf.py": "from . import leaf as itself\nfrom ... import beyond\nfrom .. import b, nope\ndef leaf(): pass\n",
    "p/space/one.py": "def z(): pass\n",
    "p/space/deep/two.py": "from .. import one\n",
    "script.py": "import p\nimport p.space.one\nfrom p.space import one, missing\nfrom p import space\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("p", "f", ["scope p.a:f"]),
        ("p", "D", ["scope p.a:C"]),
        ("p", "D.m", ["scope p.a:C.m"]),
        ("p", "D.E.o", ["scope p.a:C.E.o"]),
        ("p", "D.y", ["scope p.a:C + y"]),
        ("p", "D.m.x.y", ["scope p.a:C.m + x.y"]),
        ("p", "b", ["module p.b"]),
        ("p", "b.g", ["scope p.b:g"]),
        ("p", "a", ["module p.a"]),
        ("p", "a.f", ["scope p.a:f"]),
        ("p", "sub.leaf", ["scope p.sub.leaf:leaf"]),
        ("p", "s", ["scope p.star:s"]),
        ("p", "d", ["scope p.deeper:d"]),
        ("p", "_shown", []),
        ("p.star", "_shown", ["scope p.deeper:_shown"]),
        ("p", "_private", []),
        ("p", "path.join", ["external os.path.join"]),
        ("p", "nope", []),
        ("p", "space.one.z", ["scope p.space.one:z"]),
        ("p", "space", ["module p.space"]),
        ("p.a", "p.b.g", ["scope p.b:g"]),
        ("p.a", "p.a.p.a.f", ["scope p.a:f"]),
        ("p.a", "h", ["scope p.b:g"]),
        ("p.a", "array", ["external numpy.array"]),
        ("p.a", "array.x", ["external numpy.array.x"]),
        ("p.a", "torch.npu.x", ["external torch.npu.x"]),
        ("p.a", "alias", ["scope p.a:f"]),
        ("p.a", "member", ["scope p.a:C.m"]),
        ("p.a", "value", ["value p.a:value"]),
        ("p.a", "value.x", ["value p.a:value + x"]),
        ("p.a", "attribute", ["value p.a:value + x"]),
        ("p.a", "attribute.y", ["value p.a:value + x.y"]),
        ("p.a", "lost", ["value p.a:lost"]),
        ("p.a", "itself", ["value p.a:itself"]),
        ("p.a", "unknown", []),
        ("p.a", "p.b.unknown.x", ["missing p.b:unknown + x"]),
        ("p.b", "either", ["scope p.a:f", "value p.b:either"]),
        ("p.sub", "f", ["scope p.a:f"]),
        ("p.sub", "g", ["scope p.a:f"]),
        ("p.sub.leaf", "itself", ["scope p.sub.leaf:leaf"]),
        ("p.sub.leaf", "beyond", ["external .beyond"]),
        ("p.sub.leaf", "b.g", ["scope p.b:g"]),
        ("p.sub.leaf", "nope", ["missing p:nope"]),
        ("p.space.deep.two", "one.z", ["scope p.space.one:z"]),
        ("script", "p.f", ["scope p.a:f"]),
        ("script", "p.space.one.z", ["scope p.space.one:z"]),
        ("script", "one.z", ["scope p.space.one:z"]),
        ("script", "space.deep.two", ["module p.space.deep.two"]),
        ("script", "missing", ["missing p.space:missing"]),
    ],
)
def test_resolve(module: str, name: str, expected: list[str]) -> None:
    """Re-exports, star imports, aliases, relative imports of each level, submodules, folders without ``__init__``."""
    symbols = symbols_of(PACKAGE)
    assert shown(symbols, symbols.resolve(module, 0, name)) == expected


@pytest.mark.parametrize(
    ("scope", "name", "expected"),
    [
        ("f", "g", ["scope p.b:g"]),
        ("f", "x", []),
        ("f", "inner", ["scope p.a:f.<locals>.inner"]),
        ("f", "C.m", ["scope p.a:C.m"]),
        ("f.<locals>.inner", "g", ["scope p.b:g"]),
        ("f.<locals>.inner", "x", []),
        ("C", "m", ["scope p.a:C.m"]),
        ("C", "E.o", ["scope p.a:C.E.o"]),
        ("C", "y", []),
        ("C", "f", ["scope p.a:f"]),
        ("C.m", "self.n", ["scope p.a:C.n"]),
        ("C.m", "self.nope", []),
        ("C.m", "n", []),
        ("C.m", "self", []),
        ("C.E.o", "self.m", []),
    ],
)
def test_resolve_in_scope(scope: str, name: str, expected: list[str]) -> None:
    """Names of functions come before those around them; those of classes are not seen in methods."""
    symbols = symbols_of(PACKAGE)
    facts = facts_of(PACKAGE["p/a.py"], deep=True, path="p/a.py")
    index = next(one.index for one in facts.scopes if one.qualname == scope)
    found = symbols.resolve_deep(facts, "p.a", index, name)
    assert shown(symbols_of(PACKAGE), found) == expected


METHODS = {
    "p/__init__.py": "",
    "p/base.py": "class A:\n    def a(self): pass\n    def both(self): pass\n"
    "class B(A):\n    def b(self): pass\n    hidden = 1\n",
    "p/user.py": "from p.base import B\nfrom p import base\n"
    "class C(B, External):\n    def c(self):\n        self.a(); self.b()\n    @classmethod\n    def k(cls): cls.c()\n"
    "class D(base.B):\n    def both(self): pass\n    def d(self): pass\n"
    "class Loop(Loop):\n    def x(self): pass\n"
    "class E(base.A, C):\n    class Inner(C):\n        def i(self): pass\n",
    "p/hidden.py": "from p.user import C\nclass F(C):\n    b = None\n    def f(self): pass\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "scope", "name", "expected"),
    [
        ("p.user", "C.c", "self.c", ["scope p.user:C.c"]),
        ("p.user", "C.c", "self.a", ["scope p.base:A.a"]),
        ("p.user", "C.c", "self.b", ["scope p.base:B.b"]),
        ("p.user", "C.c", "self.nope", []),
        ("p.user", "C.c", "self.a.b", ["scope p.base:A.a"]),
        ("p.user", "C.k", "cls.c", ["scope p.user:C.c"]),
        ("p.user", "C.k", "self.c", []),
        ("p.user", "D.d", "self.both", ["scope p.user:D.both"]),
        ("p.user", "D.d", "self.a", ["scope p.base:A.a"]),
        ("p.user", "Loop.x", "self.y", []),
        ("p.user", "E.Inner.i", "self.c", ["scope p.user:C.c"]),
        ("p.hidden", "F.f", "self.b", []),
        ("p.hidden", "F.f", "self.hidden", []),
        ("p.hidden", "F.f", "self.a", ["scope p.base:A.a"]),
    ],
)
def test_methods(module: str, scope: str, name: str, expected: list[str]) -> None:
    """What ``self`` has comes from the class and its bases, also of other modules; a class attribute hides a method."""
    symbols = symbols_of(METHODS)
    facts = facts_of(symbols.modules[module].text, deep=True)
    index = next(one.index for one in facts.scopes if one.qualname == scope)
    assert shown(symbols, symbols.resolve_deep(facts, module, index, name)) == expected


def test_classes_that_only_deep_facts_have() -> None:
    """A class in a function that a shallow walk passes over has its methods in deep facts."""
    text = (
        "class A:\n    def a(self): pass\ndef f():\n    class B(A):\n        def b(self): self.b(); self.a()\n    B.b\n"
    )
    symbols = symbols_of({"m.py": text})
    facts = facts_of(text, deep=True, path="m.py")
    assert len(symbols.modules["m"].scopes) < len(facts.scopes)
    f, inner, method = (next(one for one in facts.scopes if one.name == name) for name in ("f", "B", "b"))
    (found,) = symbols.resolve_deep(facts, "m", method.index, "self.b")
    assert (found.kind, found.scope) == ("scope", method.index)
    (found,) = symbols.resolve_deep(facts, "m", method.index, "self.a")
    assert shown(symbols, (found,)) == ["scope m:A.a"]
    assert [one.scope for one in symbols.resolve_deep(facts, "m", f.index, "B")] == [inner.index]
    assert [one.scope for one in symbols.resolve_deep(facts, "m", f.index, "B.b")] == [method.index]


def clique(count: int, text: str) -> dict[str, str]:
    """Modules of which each takes everything from all others."""
    return {
        f"m{index}.py": "".join(text.format(other) for other in range(count) if other != index)
        for index in range(count)
    }


@pytest.mark.parametrize("text", ["from m{0} import *\n", "from m{0} import x\n", "import m{0}\nx = m{0}.x\n"])
def test_cycles(text: str) -> None:
    """Modules that take names from each other in every way have no more names than they define."""
    symbols = symbols_of({**clique(12, text), "defining.py": "from m0 import *\nfrom m1 import x\ndef y(): pass\n"})
    kinds = {one.kind for one in symbols.resolve("defining", 0, "x")}
    assert kinds <= {"missing", "value"}
    assert shown(symbols, symbols.resolve("defining", 0, "y")) == ["scope defining:y"]
    assert symbols.resolve("m3", 0, "y") == ()


def test_long_dotted_names() -> None:
    """Modules that are attributes of each other give as many targets as there are modules, not as there are paths."""
    text = "import a as p\nimport b as p\ndef f(): pass\n"
    symbols = symbols_of({"a.py": text, "b.py": text})
    assert shown(symbols, symbols.resolve("a", 0, "p." * 60 + "f")) == ["scope a:f", "scope b:f"]


def test_long_chains() -> None:
    """A name is followed through dozens of modules, and is a value of unknown origin where there are more."""
    files = {f"m{index}.py": f"from m{index + 1} import f\n" for index in range(500)}
    files["m500.py"] = "def f(): pass\n"
    symbols = symbols_of(files)
    assert shown(symbols, symbols.resolve("m460", 0, "f")) == ["scope m500:f"]
    assert [one.kind for one in symbols.resolve("m0", 0, "f")] == ["value"]


@pytest.mark.parametrize(
    ("path", "source_root", "expected"),
    [
        ("veomni/ops/__init__.py", "", ("veomni.ops", True)),
        ("veomni/ops/x.py", "", ("veomni.ops.x", False)),
        ("src/veomni/ops/x.py", "src", ("veomni.ops.x", False)),
        ("tests/test_x.py", "src", ("tests.test_x", False)),
        ("srcs/x.py", "src", ("srcs.x", False)),
        ("x.py", "", ("x", False)),
        ("__init__.py", "", ("__init__", False)),
        ("a/b/src/veomni/x.py", "a/b/src", ("veomni.x", False)),
    ],
)
def test_module_name(path: str, source_root: str, expected: tuple[str, bool]) -> None:
    """A file is named from the folder that holds the package under check, or else from the root."""
    assert module_name(path, source_root) == expected


def test_packages() -> None:
    """Folders with and without ``__init__`` are packages; a package counts before a module of its name."""
    symbols = symbols_of({"a/__init__.py": "x = 1", "a.py": "y = 1", "b/c/d.py": "", "a/e/f.py": ""})
    assert symbols.packages == {"a", "b", "b.c", "a.e"}
    assert list(symbols.bindings("a")) == ["x"]
    assert (symbols.is_project("b.c.d.e"), symbols.is_project("c")) == (True, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import p", ["p"]),
        ("import p.sub.leaf", ["p", "p.sub", "p.sub.leaf"]),
        ("import p.sub.nope", ["p", "p.sub"]),
        ("from p import b", ["p", "p.b"]),
        ("from p import f", ["p"]),
        ("from p import nope", ["p"]),
        ("from p.sub import leaf", ["p", "p.sub"]),
        ("from p import *", ["p"]),
        ("from p.space import one", ["p", "p.space.one"]),
        ("import numpy.x", []),
        ("from . import x", []),
        ("import_module('p.sub.leaf')", ["p", "p.sub", "p.sub.leaf"]),
    ],
)
def test_loaded_by(text: str, expected: list[str]) -> None:
    """An import loads the packages around a module first, and a submodule unless the package has something else."""
    symbols = symbols_of({**PACKAGE, "user.py": text})
    (imported,) = symbols.modules["user"].imports
    assert list(symbols.loaded_by("user", imported)) == expected
