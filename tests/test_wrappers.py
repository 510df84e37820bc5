"""The wrapper tables and builders, in the styles in which they can be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_of

from veomni_opslint.model.wrapper_module import OTHER
from veomni_opslint.model.wrappers import Wrappers

PATH = "veomni/distributed/sequence_parallel/op_wrappers.py"
PLAIN = """\
def make(name):
    return [name]


"""


def wrappers_of(root: Path, text: str) -> Wrappers:
    """The wrappers of the base tree with *text* as its wrapper module."""
    found = model_of(root, {PATH: text}).wrappers
    assert found is not None
    return found


def accepted(found: Wrappers) -> list[tuple[str, str, str]]:
    """The names for which a builder gives something."""
    return sorted((one.op, one.variant, one.implementation) for one in found.results if one.verdict == "accepted")


def test_tree_without_wrappers(tmp_path: Path) -> None:
    """There is nothing to say."""
    assert model_of(tmp_path, {}).wrappers is None


def test_tables_and_where_their_elements_are_written(tmp_path: Path) -> None:
    """Unions, constants, later changes, keyword entries and comprehensions, each element at its own place."""
    text = (
        'EVERYWHERE = frozenset({"eager"})\n'
        "_SUPPORTED_IMPLEMENTATIONS = {\n"
        '    "rms_norm": EVERYWHERE | {"npu"},\n'
        '    "rotary_pos_emb": frozenset(\n'
        '        ["triton"]\n'
        "    ),\n"
        "}\n"
        '_SUPPORTED_IMPLEMENTATIONS["rms_norm"] |= {"liger_kernel"}\n'
        '_SUPPORTED_VARIANTS = dict(rms_norm={"standard"})\n'
        '_SUPPORTED_VARIANTS.update({"rotary_pos_emb": ("full", "partial")})\n'
        '_DEFAULT_VARIANTS = {op: "standard" for op in ("rms_norm",)}\n'
        "_CONFIG_FIELDS = UNKNOWN\n"
    )
    found = wrappers_of(tmp_path, text)
    shown = {
        table.name: [
            (one.op, one.place.line, [(each.value, each.place.line, each.place.column) for each in one.elements or ()])
            for one in table.entries
        ]
        for table in found.tables
    }
    assert shown == {
        "_SUPPORTED_IMPLEMENTATIONS": [
            ("rms_norm", 8, [("eager", 1, 25), ("npu", 3, 31), ("liger_kernel", 8, 44)]),
            ("rotary_pos_emb", 4, [("triton", 5, 10)]),
        ],
        "_SUPPORTED_VARIANTS": [
            ("rms_norm", 9, [("standard", 9, 38)]),
            ("rotary_pos_emb", 10, [("full", 10, 48), ("partial", 10, 56)]),
        ],
        "_DEFAULT_VARIANTS": [("rms_norm", 11, [("standard", 11, 26)])],
    }
    assert found.unknown == ("_CONFIG_FIELDS",)
    assert found.builders is None


BY_IF = """\
def _build(variant, impl_name):
    if variant != "standard":
        raise KeyError(variant)
    if impl_name == "eager" or impl_name in ("npu",):
        return make(impl_name)


_BUILDERS = {"rms_norm": _build}
"""
BY_MATCH = """\
def _build(impl_name, variant):
    match variant, impl_name:
        case "standard", "eager" | "npu":
            return make(impl_name)
    raise KeyError(impl_name)


_BUILDERS = {"rms_norm": _build}
"""
BY_TABLE = """\
_TABLE = {("standard", "eager"): make, ("standard", "npu"): make}


def _build(kernel, variant):
    key = (variant, kernel)
    return _TABLE[key](kernel)


_BUILDERS = {}
_BUILDERS["rms_norm"] = _build
"""
BY_GET = """\
def _build(variant, impl):
    maker = {"eager": make, "npu": make}.get(impl)
    return maker(impl) if maker is not None and variant == "standard" else None


_BUILDERS = {"rms_norm": lambda variant, impl: _build(variant, impl)}
"""
BY_DECORATOR = """\
_BUILDERS = {}


def _builder(op):
    def add(function):
        _BUILDERS[op] = function
        return function

    return add


@_builder("rms_norm")
def _build(variant, impl_name):
    _check(variant)
    return {"eager": make, "npu": make}[impl_name](impl_name)


def _check(variant):
    assert variant == "standard", variant
"""
BY_NESTING = """\
def _standard_only(variant):
    if variant == "standard":
        return make(variant)
    raise KeyError(variant)


_BUILDERS = {"rms_norm": {"eager": _standard_only, "npu": _standard_only}}
"""
BY_PAIR = """\
def _build(impl_name):
    if impl_name in ("eager", "npu"):
        return make(impl_name)
    raise KeyError(impl_name)


_BUILDERS = {("rms_norm", "standard"): _build}
"""
BY_METHOD = """\
from functools import partial


class Builder:
    def __init__(self, names):
        self.names = names

    def __call__(self, variant, impl_name):
        return self.build(variant, impl_name)

    def build(self, variant, impl_name):
        if impl_name not in self.names or variant != "standard":
            raise KeyError(impl_name)
        return make(impl_name)


def _build(builder, variant, impl_name):
    return builder(variant, impl_name)


_BUILDERS = {"rms_norm": partial(_build, Builder(("eager", "npu")))}
"""
BY_TRY = """\
def _build(variant, impl_name):
    try:
        maker = {"eager": make, "npu": make}[impl_name]
    except KeyError:
        raise ValueError(impl_name) from None
    if variant == "standard":
        return maker(impl_name)
    return None


_BUILDERS = {"rms_norm": _build}
"""


@pytest.mark.parametrize(
    "text",
    [BY_IF, BY_MATCH, BY_TABLE, BY_GET, BY_DECORATOR, BY_NESTING, BY_PAIR, BY_METHOD, BY_TRY],
    ids=["if", "match", "table", "get", "decorator", "nesting", "pair", "method", "try"],
)
def test_what_a_builder_accepts(text: str, tmp_path: Path) -> None:
    """The same two wrappers, however the builder is written, and nothing else."""
    tables = (
        '_SUPPORTED_IMPLEMENTATIONS = {"rms_norm": frozenset({"eager", "npu", "triton"})}\n'
        '_SUPPORTED_VARIANTS = {"rms_norm": frozenset({"standard", "qwen3_5"})}\n'
    )
    found = wrappers_of(tmp_path, PLAIN + text + tables)
    assert accepted(found) == [("rms_norm", "standard", "eager"), ("rms_norm", "standard", "npu")]
    assert {one.verdict for one in found.results} == {"accepted", "refused"}


def test_builder_that_accepts_anything(tmp_path: Path) -> None:
    """A name that nobody writes is accepted too, so nothing is singled out."""
    text = '_BUILDERS = {"rms_norm": lambda variant, impl_name: make(impl_name)}\n'
    assert accepted(wrappers_of(tmp_path, PLAIN + text)) == [("rms_norm", OTHER, OTHER)]


@pytest.mark.parametrize(
    "text",
    [
        'from plugins import build\n_BUILDERS = {"rms_norm": build}\n',
        '_BUILDERS = {"rms_norm": lambda *names: make(names)}\n',
        '_BUILDERS = {"rms_norm": lambda variant, config: make(variant)}\n',
    ],
    ids=["outside", "any arguments", "argument of unknown meaning"],
)
def test_builder_that_is_not_known(text: str, tmp_path: Path) -> None:
    """Nothing is said about what it gives."""
    assert {one.verdict for one in wrappers_of(tmp_path, PLAIN + text).results} == {"unknown"}


def test_names_that_a_builder_mentions(tmp_path: Path) -> None:
    """The constants that its arguments are compared with, also in helpers and tables, and no others."""
    text = (
        'FAST = ("liger_kernel",\n'
        '        "triton")\n'
        "\n"
        "\n"
        "def _build(variant, impl_name):\n"
        '    mode = "gemma" if variant == "qwen3_5" else "llama"\n'
        "    if impl_name in FAST:\n"
        "        return make(mode)\n"
        "    return _slow(impl_name.lower())\n"
        "\n"
        "\n"
        "def _slow(name):\n"
        '    return {"eager": make}[name]("slow")\n'
        "\n"
        "\n"
        '_BUILDERS = {"rms_norm": _build}\n'
    )
    (builder,) = wrappers_of(tmp_path, text).builders or ()
    assert [(one.role, one.value, one.place.line) for one in builder.mentions] == [
        ("variant", "qwen3_5", 6),
        ("implementation", "liger_kernel", 1),
        ("implementation", "triton", 2),
        ("implementation", "eager", 13),
    ]


def test_requests(tmp_path: Path) -> None:
    """What callers ask for, by position, keyword, pair, constant and alternative; unknown ones are left out."""
    wrappers = PLAIN + "def get_op_wrapper(op_name, variant=None):\n    return make(op_name)\n"
    caller = (
        "from veomni.distributed.sequence_parallel.op_wrappers import get_op_wrapper as wrapper\n"
        'PAIR = ("rms_norm", "standard")\n'
        "\n"
        "\n"
        "def norm(op, centred):\n"
        '    wrapper("a")\n'
        '    wrapper(op_name="b", variant="c")\n'
        '    wrapper(("d", "e" if centred else "f"))\n'
        "    wrapper(PAIR)\n"
        "    wrapper(op)\n"
        '    name = "g"\n'
        '    return wrapper(name, "h")\n'
    )
    found = model_of(tmp_path, {PATH: wrappers, "veomni/models/norm.py": caller}).wrappers
    assert found is not None
    assert sorted((one.op_place.line, one.op, one.variant) for one in found.requests) == [
        (6, "a", None),
        (7, "b", "c"),
        (8, "d", "e"),
        (8, "d", "f"),
        (9, "rms_norm", "standard"),
        (12, "g", "h"),
    ]
