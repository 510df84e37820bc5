"""The fields of the ops config: defaults, choices and where they come from."""

from __future__ import annotations

import sys

import pytest
from support.symbols import symbols_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.findings import Place
from veomni_opslint.model.ops_config import ConfigField, OpsConfig, find_ops_config

PATH = "veomni/arguments.py"
CONSTANTS = (
    "EAGER = 'eager'\nALIAS = EAGER\nTWICE = 'a'\nTWICE = 'b'\nNUMBER = 1\n"
    "class Names:\n    TRITON = 'triton'\nclass Kind(Enum):\n    LIGER = 'liger'\n"
)


def config_of(text: str, more: dict[str, str] | None = None) -> OpsConfig:
    """The ops config in a file with this text."""
    files = {"veomni/__init__.py": "", "veomni/constants.py": CONSTANTS, PATH: text, **(more or {})}
    found = find_ops_config(symbols_of(files), Dialect(), "veomni")
    assert found is not None
    return found


def field_of(line: str, before: str = "") -> ConfigField:
    """The only field of a config with this line."""
    (field,) = config_of(f"{before}@dataclass\nclass OpsImplementationConfig:\n    {line}\n").fields
    return field


@pytest.mark.parametrize(
    ("value", "default"),
    [
        ("'eager'", "eager"),
        ("field(default='eager')", "eager"),
        ("dataclasses.field(default='eager', metadata={'help': 'x'})", "eager"),
        ("field(default_factory=lambda: 'eager')", "eager"),
        ("OWN", "own"),
        ("field(default=OWN)", "own"),
        ("EAGER", "eager"),
        ("ALIAS", "eager"),
        ("constants.EAGER", "eager"),
        ("Names.TRITON", "triton"),
        ("Kind.LIGER.value", "liger"),
        ("Kind.LIGER", "liger"),
        ("TWICE", None),
        ("NUMBER", None),
        ("unknown", None),
        ("None", None),
        ("1", None),
        ("'a' if x else 'b'", None),
        ("field(default=None)", None),
        ("field(default_factory=make)", None),
        ("field()", None),
        ("make('eager')", None),
    ],
)
def test_default(value: str, default: str | None) -> None:
    """A default that is a string, written out or as a constant of any module."""
    before = "from veomni import constants\nfrom veomni.constants import *\nOWN = 'own'\n"
    assert field_of(f"rms_norm_implementation: str = {value}", before).default == default


@pytest.mark.parametrize(
    ("annotation", "choices"),
    [
        ("Literal['a', 'b']", ("a", "b")),
        ("typing.Literal['a']", ("a",)),
        ("Optional[Literal['a', 'b']]", ("a", "b")),
        ("Literal['a', 'b'] | None", ("a", "b")),
        ("None | Literal['a']", ("a",)),
        ("Union[Literal['a'], None]", ("a",)),
        ("Literal['a', None]", ("a",)),
        ("Literal['a'] | Literal['b', 'a']", ("a", "b")),
        ("Union[Literal['a'], Literal['b']]", ("a", "b")),
        ("Literal[Literal['a'], 'b']", ("a", "b")),
        ("Annotated[Literal['a'], 'help']", ("a",)),
        ("Final[Literal['a']]", ("a",)),
        ("\"Literal['a', 'b']\"", ("a", "b")),
        ("\"Optional[Literal['a']]\"", ("a",)),
        ("Optional[\"Literal['a']\"]", ("a",)),
        ("\"Literal['a'\\n,'b']\"", ("a", "b")),
        ("Choice", ("a", "b")),
        ("Choice | None", ("a", "b")),
        ("Typed", ("c",)),
        ("Literal[Choice, 'd']", ("a", "b", "d")),
        ("'Choice'", ("a", "b")),
        ("str", None),
        ("Literal['a'] | str", None),
        ("Union[Literal['a'], str]", None),
        ("Optional[str]", None),
        ("Literal['a', 1]", None),
        ("Literal[None]", None),
        ("Literal['a', Kind.B]", None),
        ("dict[Literal['a'], str]", None),
        ("list[Literal['a']]", None),
        ("Loop", None),
        ("Unknown", None),
        ("'not ( python'", None),
        ("None", None),
        ("Literal['a'] & x", None),
    ],
)
def test_choices(annotation: str, choices: tuple[str, ...] | None) -> None:
    """The strings that a type allows, where it allows only these."""
    before = "Choice = Literal['a', 'b']\nTyped: TypeAlias = Literal['c']\nLoop = Loop2\nLoop2 = Loop\n"
    assert field_of(f"x_implementation: {annotation} = 'a'", before).choices == choices


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are new in Python 3.12")
def test_type_statement() -> None:
    """An alias may be made by ``type``."""
    assert field_of("x: Choice", "type Choice = Literal['a']\n").choices == ("a",)


@pytest.mark.parametrize(
    "line",
    [
        "x: ClassVar[str] = 'a'",
        "x: 'ClassVar[str]' = 'a'",
        "x: InitVar[str] = 'a'",
        "_: KW_ONLY",
        "_: dataclasses.KW_ONLY",
        "x = 'a'",
        "x.y: str = 'a'",
        "def x(self): pass",
    ],
)
def test_no_field(line: str) -> None:
    """What a dataclass does not make a field of."""
    assert config_of(f"@dataclass\nclass OpsImplementationConfig:\n    {line}\n").fields == ()


def test_config_in_full() -> None:
    """Everything that is known of a config, with places in characters."""
    field = "é: Literal['eager', 'npu'] = field(default='eager')"
    text = f"@dataclass\nclass OpsImplementationConfig:\n    {field}\n    y: str\n"
    assert config_of(text) == OpsConfig(
        "veomni.arguments",
        Place(PATH, 2, 1, 4, 11),
        (
            ConfigField(
                "é", "eager", ("eager", "npu"), Place(PATH, 3, 5, 3, 56), "veomni.arguments",
                Place(PATH, 3, 48, 3, 55),
            ),
            ConfigField("y", None, None, Place(PATH, 4, 5, 4, 11), "veomni.arguments", Place(PATH, 4, 5, 4, 11)),
        ),
    )  # fmt: skip


def inherited(text: str, more: dict[str, str] | None = None) -> list[tuple[str, str | None, str]]:
    """Name, default and module of each field."""
    return [(one.name, one.default, one.module) for one in config_of(text, more).fields]


def test_inheritance() -> None:
    """Fields of bases come first and are replaced by those of classes that inherit, as in a dataclass."""
    text = (
        "from .base import Base\nclass A(Base):\n    x: str = 'a'\n    a: str = 'a'\n"
        "class B(Base):\n    x: str = 'b'\n    b: str = 'b'\nclass OpsImplementationConfig(A, B):\n    b: str = 'own'\n"
    )
    base = {"veomni/base.py": "class Base:\n    x: str = 'base'\n    y: str = 'base'\n"}
    own = "veomni.arguments"
    assert inherited(text, base) == [
        ("x", "a", own),
        ("y", "base", "veomni.base"),
        ("b", "own", own),
        ("a", "a", own),
    ]


@pytest.mark.parametrize("bases", ["OpsImplementationConfig", "Unknown", "make()", "Base.x", "*BASES"])
def test_odd_bases(bases: str) -> None:
    """A class that inherits from itself, or from what is not known, has its own fields."""
    text = f"class Base: pass\nclass OpsImplementationConfig({bases}):\n    x: str = 'a'\n"
    assert inherited(text) == [("x", "a", "veomni.arguments")]


@pytest.mark.parametrize(
    "text",
    [
        "if NEW:\n    class OpsImplementationConfig:\n        x: str = 'a'\n",
        "try:\n    import y\nexcept ImportError:\n    class OpsImplementationConfig:\n        x: str = 'a'\n",
        "try:\n    import y\nfinally:\n    class OpsImplementationConfig:\n        x: str = 'a'\n",
        "if NEW:\n    pass\nelse:\n    if NEWER:\n        class OpsImplementationConfig:\n            x: str = 'a'\n",
    ],
)
def test_config_below_a_condition(text: str) -> None:
    """The class may be defined under a condition."""
    assert inherited(text) == [("x", "a", "veomni.arguments")]


@pytest.mark.parametrize(
    "files",
    [
        {"veomni/x.py": "class Other:\n    x: str = 'a'\n"},
        {"veomni/x.py": "# class OpsImplementationConfig\n"},
        {"veomni/x.py": "def f():\n    class OpsImplementationConfig:\n        x: str = 'a'\n"},
        {"veomni/x.py": "class OpsImplementationConfig(:\n"},
        {"other/x.py": "class OpsImplementationConfig:\n    x: str = 'a'\n"},
        {"veomni_other/x.py": "class OpsImplementationConfig:\n    x: str = 'a'\n"},
    ],
)
def test_no_config(files: dict[str, str]) -> None:
    """A tree without the class in its package has no config."""
    assert find_ops_config(symbols_of(files), Dialect(), "veomni") is None


def test_field_by_name() -> None:
    """A field is found by its name."""
    config = config_of("class OpsImplementationConfig:\n    x: str = 'a'\n    y: str = 'b'\n")
    assert (config.field("y"), config.field("z")) == (config.fields[1], None)
