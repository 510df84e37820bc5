"""What names can stand for while module-level code is evaluated.

Strings, numbers, booleans, None, bytes, tuples and ranges stand for themselves; everything else is one of the classes
below. What can change is a ``Cell``, so that the branches of an unknown condition can be undone and merged.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from veomni_opslint.conditions import Condition
from veomni_opslint.evaluate.cells import UNBOUND, Attributes, Value
from veomni_opslint.findings import Place

if TYPE_CHECKING:
    from veomni_opslint.evaluate.frames import Frame, Module

Role: TypeAlias = Literal["", "registry", "kernel_spec", "hardware", "op_spec", "backend_spec", "op_scope"]


@dataclass(frozen=True, slots=True)
class External:
    """An attribute of a module outside the project, or a built-in (``builtins.len``)."""

    dotted: str

    @property
    def last(self) -> str:
        """The last part of the dotted name."""
        return self.dotted.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module of the project."""

    name: str


@dataclass(frozen=True, slots=True)
class Lazy:
    """A name imported from a project module that has not been looked up yet."""

    module: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several values, each under its condition; the conditions exclude each other."""

    options: tuple[tuple[Condition, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """An element of a container that is there only under a condition."""

    when: Condition
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """``functools.partial`` of a callable."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A project function bound to its receiver."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Native:
    """A method of a built-in value, or of the registry."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Wrapped:
    """A function under a descriptor or a decorator that changes how it is called."""

    kind: Literal["staticmethod", "classmethod", "property", "contextmanager", "cached"]
    function: Value


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What calling a ``contextmanager`` function gives: the generator function and its arguments."""

    function: Value
    arguments: Arguments


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """``super()``: attributes of *receiver* from the classes after *after*."""

    after: Class
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Globals:
    """``globals()`` of a project module."""

    module: str


class Function(Attributes):
    """A def or lambda of the project. Its attributes are those set on it (``f.op = "rms_norm"``)."""

    __slots__ = ("defaults", "frame", "keyword_defaults", "module", "node", "owner", "qualname")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        qualname: str,
        module: Module,
        frame: Frame,
        defaults: tuple[Value, ...],
        keyword_defaults: dict[str, Value],
    ) -> None:
        super().__init__()
        self.node = node
        self.qualname = qualname
        self.module = module
        self.frame = frame
        self.defaults = defaults
        self.keyword_defaults = keyword_defaults
        self.owner: Class | None = None

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a dataclass, a named tuple, or a class whose annotations are its parameters."""

    name: str
    default: Value = UNBOUND
    factory: Value = UNBOUND
    init: bool = True
    keyword_only: bool = False
    init_only: bool = False


class Class(Attributes):
    """A class of the project, or one that the dialect names and that lies outside it."""

    __slots__ = (
        "annotations", "bases", "fields", "flavor", "frozen", "module", "name", "node", "opaque_base", "qualname",
        "role",
    )  # fmt: skip

    def __init__(self, name: str, qualname: str, module: Module | None, bases: tuple[Value, ...]) -> None:
        super().__init__()
        self.name = name
        self.qualname = qualname
        self.module = module
        self.node: ast.ClassDef | None = None
        self.bases = bases
        self.annotations: tuple[tuple[str, str], ...] = ()
        self.flavor: Literal["plain", "dataclass", "enum", "namedtuple"] = "plain"
        self.fields: tuple[Field, ...] = ()
        self.frozen = False
        self.role: Role = ""
        self.opaque_base = ""

    def lineage(self) -> list[Class]:
        """The class and its bases, in the order in which attributes are looked up."""
        found: list[Class] = []
        for base in reversed(self.bases):
            if isinstance(base, Class):
                found = [cls for cls in base.lineage() if cls not in found] + found
        return [self, *found]

    def find(self, name: str) -> Value:
        """The attribute of the class or of its first base that has one, else UNBOUND."""
        for cls in self.lineage():
            value = cls.attrs.get(name, UNBOUND)
            if value is not UNBOUND:
                return value
        return UNBOUND

    def has_external_base(self, *dotted: str) -> bool:
        """Whether one of *dotted* is among the bases of the class or of its project bases."""
        return any(isinstance(base, External) and base.dotted in dotted for cls in self.lineage() for base in cls.bases)


LOST = "__lost__"
"""The attribute of an instance that says why attributes it is not known to have may be there."""


class Instance(Attributes):
    """An instance of a project class. ``written`` is the text and place of ``factory=`` for a KernelSpec."""

    __slots__ = ("cls", "own_role", "place", "written")

    def __init__(self, cls: Class, place: Place | None = None) -> None:
        super().__init__()
        self.cls = cls
        self.own_role: Role = ""
        self.place = place
        self.written: tuple[str, Place] | None = None

    @property
    def role(self) -> Role:
        """What the dialect knows it as."""
        return self.own_role or self.cls.role

    @property
    def sequence(self) -> tuple[Value, ...]:
        """The elements of an instance of a named tuple."""
        return tuple(self.attrs.get(item.name, UNBOUND) for item in self.cls.fields)


class EnumMember(Attributes):
    """A member of an enum of the project; ``attrs`` are those that its ``__init__`` sets."""

    __slots__ = ("cls", "name", "value")

    def __init__(self, cls: Class, name: str, value: Value) -> None:
        super().__init__()
        self.cls = cls
        self.name = name
        self.value = value

    @property
    def plain(self) -> Value:
        """The value it equals because the enum also derives from ``str`` or ``int``, else UNBOUND."""
        if self.cls.has_external_base("builtins.str", "enum.StrEnum", "builtins.int", "enum.IntEnum"):
            return self.value
        return UNBOUND


@dataclass(slots=True)
class Arguments:
    """The arguments of one call, and where it is.

    ``lost`` and ``lost_keywords`` are the reasons why more positional arguments or keywords may be given than are
    known; empty when there are none.
    """

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    node: ast.AST
    frame: Frame
    lost: str = ""
    lost_keywords: str = ""
    keyword_nodes: dict[str, ast.expr] = field(default_factory=dict)

    def with_first(self, *values: Value) -> Arguments:
        """The same call with more positional arguments in front."""
        return self.replaced((*values, *self.positional), self.keywords)

    def replaced(self, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Arguments:
        """The same call with other arguments."""
        return Arguments(positional, keywords, self.node, self.frame, self.lost, self.lost_keywords, self.keyword_nodes)

    def get(self, index: int, name: str, default: Value = UNBOUND) -> Value:
        """The argument at *index* or called *name*."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name, default)


def string_of(value: Value) -> str | None:
    """The string that a value is, or that a member of an enum of strings equals."""
    if isinstance(value, EnumMember) and value.plain is not UNBOUND:
        value = value.plain
    return value if isinstance(value, str) else None
