"""Classes of the project: their definition, and the objects that calling them makes."""

from __future__ import annotations

import ast

from veomni_opslint.evaluate.binding import bind, formals_of_fields
from veomni_opslint.evaluate.calls import Calls
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.path import is_exception
from veomni_opslint.evaluate.values import (
    Arguments,
    Class,
    EnumMember,
    External,
    Field,
    Function,
    Instance,
    Method,
    Wrapped,
)
from veomni_opslint.findings import Place

_PLAIN_BASES = frozenset((
    "builtins.object", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol", "abc.ABC", "builtins.str",
    "builtins.int", "typing.NamedTuple",
))  # fmt: skip
_WRITTEN = {"kernel_spec": "factory", "backend_spec": "entry"}
_PLAIN_METACLASSES = frozenset(("abc.ABCMeta", "enum.EnumMeta", "enum.EnumType", "builtins.type"))


class Classes(Calls):
    """Defining and instantiating classes."""

    def define_class(self, node: ast.ClassDef, frame: Frame) -> Value:
        """Run the body of a class definition, without its decorators."""
        bases = tuple(
            self.evaluate(base.value if isinstance(base, ast.Subscript) else base, frame)
            for base in node.bases
            if not isinstance(base, ast.Starred)
        )
        keywords = {item.arg: self.evaluate(item.value, frame) for item in node.keywords if item.arg}
        inner = Frame(frame.module, "class", frame, f"{frame.prefix}{node.name}.")
        cls = Class(node.name, f"{frame.prefix}{node.name}", frame.module, bases)
        cls.node = node
        inner.cls = cls
        self.block(node.body, inner)
        cls.attrs = dict(inner.names.attrs)
        cls.annotations = tuple((name, frame.module.text(annotation)) for name, annotation in inner.annotations)
        for value in cls.attrs.values():
            function = value.function if isinstance(value, Wrapped) else value
            if isinstance(function, Function) and function.owner is None:
                function.owner = cls
        self._inherit(cls)
        metaclass = keywords.pop("metaclass", None)
        if isinstance(metaclass, External) and metaclass.dotted not in _PLAIN_METACLASSES:
            cls.opaque_base = "is made by a metaclass outside the project"
        elif isinstance(metaclass, Class):
            return unknown("is a class made by a metaclass", hides=cls)
        self._announce(cls, keywords, node, frame)
        return cls

    def _inherit(self, cls: Class) -> None:
        cls.role = self.roles.get(cls.name, "")
        for base in cls.bases:
            if isinstance(base, Class):
                cls.role = cls.role or base.role
                cls.opaque_base = cls.opaque_base or base.opaque_base
                if base.flavor == "enum":
                    cls.flavor = "enum"
                elif base.flavor in {"dataclass", "namedtuple"}:
                    cls.flavor, cls.fields = base.flavor, base.fields
            elif isinstance(base, External):
                if base.dotted.startswith("enum."):
                    cls.flavor = "enum"
                elif base.dotted == "typing.NamedTuple":
                    cls.flavor = "namedtuple"
                    cls.fields = tuple(Field(name, cls.attrs.get(name, UNBOUND)) for name, _ in cls.annotations)
                elif base.dotted not in _PLAIN_BASES and not is_exception(base.dotted):
                    cls.opaque_base = cls.opaque_base or reason_of(base)
            else:
                cls.opaque_base = cls.opaque_base or reason_of(base) or "has an unknown base class"
        if cls.flavor == "enum":
            self._make_members(cls)

    def _make_members(self, cls: Class) -> None:
        value: Value = 0
        for name, given in list(cls.attrs.items()):
            if name.startswith("_") or isinstance(given, Function | Wrapped | Class | EnumMember):
                continue
            value = _automatic(cls, name, value) if given == External("enum.auto()") else given
            existing = next(
                (other for other in cls.attrs.values() if isinstance(other, EnumMember)
                 and other.cls is cls and self.equal(other.value, value) is True),
                None,
            )  # fmt: skip
            if existing is None:
                existing = EnumMember(cls, name, value)
                initializer = cls.find("__init__")
                if isinstance(initializer, Function):
                    self.invoke(initializer, existing, *(value if isinstance(value, tuple) else (value,)))
            cls.attrs[name] = existing

    def _announce(self, cls: Class, keywords: dict[str, Value], node: ast.ClassDef, frame: Frame) -> None:
        for base in cls.lineage()[1:]:
            hook = base.attrs.get("__init_subclass__", UNBOUND)
            if isinstance(hook, Wrapped):
                hook = hook.function
            if isinstance(hook, Function):
                self.call(Method(hook, cls), Arguments((), keywords, node, frame))
                return

    def make_dataclass(self, cls: Class, options: dict[str, Value]) -> Class:
        fields: dict[str, Field] = {}
        for base in reversed(cls.lineage()[1:]):
            if base.flavor == "dataclass":
                fields.update((item.name, item) for item in base.fields)
        keyword_only = options.get("kw_only", False) is True
        for name, annotation in cls.annotations:
            if "ClassVar" in annotation:
                continue
            if annotation.rpartition(".")[2] == "KW_ONLY":
                keyword_only = True
                continue
            default = cls.attrs.get(name, UNBOUND)
            given = default if isinstance(default, Field) else Field("", default)
            fields[name] = Field(name, given.default, given.factory, given.init, given.keyword_only or keyword_only,
                                 annotation.startswith(("InitVar", "dataclasses.InitVar")))  # fmt: skip
            if isinstance(default, Field):
                cls.attrs.pop(name)
                if given.default is not UNBOUND:
                    cls.attrs[name] = given.default
        cls.fields = tuple(fields.values())
        cls.flavor = "dataclass"
        cls.frozen = options.get("frozen", False) is True
        if options.get("init", True) is not False:
            cls.attrs.pop("__init__", None)
        return cls

    def instantiate(self, cls: Class, arguments: Arguments) -> Value:
        if cls.flavor == "enum":
            return self._member(cls, arguments)
        if cls.find("__new__") is not UNBOUND:
            self.unknown_call(cls.name, "", arguments)
            return unknown(f"is made by {cls.name}.__new__, which is not followed", hides=cls)
        instance = Instance(cls, arguments.frame.module.place(arguments.node))
        if cls.role in _WRITTEN:
            instance.written = written(cls, arguments, _WRITTEN[cls.role])
        initializer = cls.find("__init__")
        own = _position(cls, "__init__")
        generated = next(
            (i for i, base in enumerate(cls.lineage()) if base.flavor in {"dataclass", "namedtuple"}), None
        )
        if initializer is not UNBOUND and (generated is None or own <= generated):
            self.call(Method(initializer, instance), arguments)
        elif generated is not None:
            self.fill(instance, cls, arguments)
        elif cls.opaque_base:
            if cls.role:
                self.make_dataclass(cls, {})
                self.fill(instance, cls, arguments)
            else:
                self.hand_over(f"{cls.name}()", arguments)
        return instance

    def _member(self, cls: Class, arguments: Arguments) -> Value:
        value = arguments.get(0, "value")
        for member in cls.attrs.values():
            if isinstance(member, EnumMember) and (member is value or self.equal(member.value, value) is True):
                return member
        reason = reason_of(value)
        if not reason:
            raise Raised("ValueError")
        return unknown(reason)

    def fill(self, instance: Instance, cls: Class, arguments: Arguments) -> None:
        bound = bind(formals_of_fields(cls.fields), arguments)
        extra: list[Value] = []
        for item in cls.fields:
            if item.name not in bound:
                value = item.default if item.factory is UNBOUND else self.invoke(item.factory)
                if value is not UNBOUND:
                    instance.attrs[item.name] = value
                continue
            value = bound[item.name]
            if value is item.factory and item.factory is not UNBOUND:
                value = self.invoke(item.factory)
            if item.init_only:
                extra.append(value)
            else:
                instance.attrs[item.name] = value
        hook = instance.cls.find("__post_init__")
        if hook is not UNBOUND:
            self.invoke(Method(hook, instance), *extra)

    def replaced(self, value: Instance, arguments: Arguments) -> Value:
        if arguments.lost_keywords:
            raise NotPlain(arguments.lost_keywords)
        copy = Instance(value.cls, arguments.frame.module.place(arguments.node))
        copy.own_role = value.own_role
        copy.attrs.update(value.attrs)
        copy.attrs.update(arguments.keywords)
        copy.written = value.written
        node = arguments.keyword_nodes.get(_WRITTEN.get(value.role, ""))
        if node is not None:
            copy.written = (arguments.frame.module.text(node), arguments.frame.module.place(node))
        hook = copy.cls.find("__post_init__")
        if hook is not UNBOUND and arguments.keywords:
            self.invoke(Method(hook, copy))
        return copy


def _automatic(cls: Class, name: str, last: Value) -> Value:
    if cls.has_external_base("enum.StrEnum"):
        return name.lower()
    if cls.has_external_base("enum.Flag", "enum.IntFlag"):
        return last * 2 if isinstance(last, int) and last else 1
    return last + 1 if isinstance(last, int) else unknown("is a number that enum.auto() chooses")


def written(cls: Class, arguments: Arguments, name: str) -> tuple[str, Place]:
    """The text and the place of the argument called *name*, or of the call when it is not written there."""
    node, module = arguments.node, arguments.frame.module
    found: ast.AST = arguments.keyword_nodes.get(name, node)
    if found is node and isinstance(node, ast.Call):
        names = [item.name for item in cls.fields]
        index = names.index(name) if name in names else len(node.args)
        plain = not any(isinstance(item, ast.Starred) for item in node.args)
        if plain and index < len(node.args) == len(arguments.positional):
            found = node.args[index]
    return module.text(found), module.place(found)


def _position(cls: Class, name: str) -> int:
    return next((index for index, base in enumerate(cls.lineage()) if name in base.attrs), len(cls.lineage()))
