"""Attributes and elements: reading, setting and deleting them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from veomni_opslint.evaluate.cells import UNBOUND, Attributes, Opaque, Value, unknown
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.elements import Elements
from veomni_opslint.evaluate.limits import Raised
from veomni_opslint.evaluate.methods import METHODS
from veomni_opslint.evaluate.path import is_exception
from veomni_opslint.evaluate.values import (
    LOST,
    Choice,
    Class,
    EnumMember,
    External,
    Function,
    Globals,
    Instance,
    Method,
    ModuleRef,
    Native,
    Partial,
    Super,
    Wrapped,
)

_PYTHON_TYPES: dict[type, type] = {
    ListValue: list,
    DictValue: dict,
    SetValue: set,
    IteratorValue: Iterator,
}
_OUTSIDE_BASE = "comes from a base class outside the project"


class Access(Elements):
    """Attributes and elements of values."""

    def attribute(self, value: Value, name: str, text: str) -> Value:
        return self.spread(value, lambda option: self._attribute(option, name, text))

    def _attribute(self, value: Value, name: str, text: str) -> Value:
        if isinstance(value, ModuleRef):
            return self.module_attribute(value.name, name)
        if isinstance(value, External):
            outside_python = value.dotted.partition(".")[0] not in sys.stdlib_module_names
            if outside_python and any("AttributeError" in names for names in self.catching):
                self.may_raise("AttributeError", text, (value, name))
            return self.outside(f"{value.dotted}.{name}")
        if isinstance(value, Opaque):
            return Opaque(value.reason, ("attribute", value.key, name), hides=value.hides)
        if isinstance(value, Instance):
            return self._of_instance(value, name)
        if isinstance(value, Class):
            return self._of_class(value, name)
        if isinstance(value, EnumMember):
            return self._of_member(value, name)
        if isinstance(value, Function):
            return self._of_function(value, name)
        if isinstance(value, Method) and isinstance(value.function, Function):
            return self._of_function(value.function, name)
        if isinstance(value, Partial):
            return self._of_partial(value, name)
        if isinstance(value, Super):
            return self._of_super(value, name)
        if isinstance(value, Globals):
            return self._attribute(self._names_of(value.module), name, text)
        if name in METHODS.get(type(value), {}):
            return Native(value, name)
        if hasattr(_PYTHON_TYPES.get(type(value), type(value)), name) or isinstance(value, Native | Method | Wrapped):
            return unknown(f"comes from .{name}, which is not followed")
        raise Raised("AttributeError")

    def _of_instance(self, value: Instance, name: str) -> Value:
        if value.role == "registry" and name == self.dialect.register_method:
            return Native(value, name)
        found = value.cls.find(name)
        if isinstance(found, Wrapped) and found.kind == "property":
            return self.invoke(found.function, value)
        own = value.attrs.get(name, UNBOUND)
        if own is UNBOUND and not isinstance(found, Function | Wrapped):
            own = value.attrs.get(LOST, UNBOUND)
        if own is not UNBOUND:
            return unknown("depends on what is registered") if value.role == "registry" else self.prune(own)
        if found is not UNBOUND:
            return self._bound(found, value, value.cls)
        if name == "__class__":
            return value.cls
        if value.cls.flavor == "namedtuple" and name in {"_asdict", "_replace", "index", "count"}:
            return Native(value, name)
        if value.cls.opaque_base or value.role == "registry" or is_exception_class(value.cls):
            return unknown(_OUTSIDE_BASE)
        if value.cls.find("__getattr__") is not UNBOUND:
            return self.invoke(self._bound(value.cls.find("__getattr__"), value, value.cls), name)
        if hasattr(object, name) or name == "__dict__":
            return unknown("comes from the attributes of an object")
        raise Raised("AttributeError")

    def _bound(self, found: Value, receiver: Value, cls: Class) -> Value:
        found = self.prune(found)
        if isinstance(found, Function):
            return Method(found, receiver)
        if isinstance(found, Wrapped):
            if found.kind == "staticmethod":
                return found.function
            if found.kind == "classmethod":
                return Method(found.function, cls)
            if found.kind == "property":
                return self.invoke(found.function, receiver)
        return found

    def _of_class(self, value: Class, name: str) -> Value:
        if name == self.dialect.register_method and value.name == self.dialect.registry:
            return Native(value, name)
        found = self.prune(value.find(name))
        if isinstance(found, Wrapped) and found.kind != "property":
            return self._bound(found, value, value)
        if found is not UNBOUND:
            return found
        if name in {"__name__", "__qualname__"}:
            return value.name if name == "__name__" else value.qualname
        if name == "__module__" and value.module is not None:
            return value.module.name
        if name == "__members__" and value.flavor == "enum":
            return DictValue((key, member) for key, member in value.attrs.items() if isinstance(member, EnumMember))
        if name == "__init__" and value.flavor == "dataclass":
            return Native(value, name)
        if name in {"_make", "_fields"} and value.flavor == "namedtuple":
            return Native(value, name) if name == "_make" else tuple(item.name for item in value.fields)
        if value.role == "op_scope" and value.opaque_base:
            return EnumMember(value, name, unknown(value.opaque_base))
        if value.opaque_base or name.startswith("__") or hasattr(type, name) or is_exception_class(value):
            return unknown(_OUTSIDE_BASE if value.opaque_base else "comes from Python itself")
        raise Raised("AttributeError")

    def _of_member(self, value: EnumMember, name: str) -> Value:
        if name in {"name", "_name_"}:
            return value.name
        if name in {"value", "_value_"}:
            return value.value
        if name in value.attrs:
            return self.prune(value.attrs[name])
        found = value.cls.find(name)
        if found is not UNBOUND:
            return self._bound(found, value, value.cls)
        if name == "__class__":
            return value.cls
        if value.plain is not UNBOUND:
            return self._attribute(value.plain, name, name)
        raise Raised("AttributeError")

    def _of_function(self, value: Function, name: str) -> Value:
        own = value.attrs.get(name, UNBOUND)
        if own is not UNBOUND:
            return self.prune(own)
        if name == "__name__":
            return value.name
        if name == "__qualname__":
            return value.qualname
        if name == "__module__":
            return value.module.name
        if name == "__wrapped__":
            raise Raised("AttributeError")
        if name.startswith("__"):
            return unknown("comes from Python itself")
        raise Raised("AttributeError")

    @staticmethod
    def _of_partial(value: Partial, name: str) -> Value:
        if name == "func":
            return value.function
        if name == "args":
            return value.positional
        if name == "keywords":
            return DictValue(value.keywords)
        raise Raised("AttributeError")

    def _of_super(self, value: Super, name: str) -> Value:
        receiver = value.receiver
        cls = receiver.cls if isinstance(receiver, Instance | EnumMember) else receiver
        if not isinstance(cls, Class):
            return unknown(_OUTSIDE_BASE)
        lineage = cls.lineage()
        rest = lineage[lineage.index(value.after) + 1 :] if value.after in lineage else []
        for base in rest:
            found = base.attrs.get(name, UNBOUND)
            if found is not UNBOUND:
                return self._bound(found, receiver, cls)
            if name == "__init__" and base.flavor in {"dataclass", "namedtuple"}:
                return Method(Native(base, name), receiver)
        if isinstance(receiver, Instance) and name in {"__init__", "__setattr__"}:
            return Native(receiver, name)
        return External(f"builtins.object.{name}")

    def delete_attribute(self, value: Value, name: str) -> None:
        """Delete an attribute of a value."""
        if isinstance(value, Choice):
            self.spread(value, lambda option: self.delete_attribute(option, name))
        elif isinstance(value, Attributes):
            self.touch(value, name)
            value.attrs.pop(name, None)

    def _names_of(self, name: str) -> Value:
        module = self.load(name)
        if module is None or module.lost or module.external_stars:
            return unknown(f"comes from the names of {name}")
        return DictValue([(key, self.resolve(value)) for key, value in list(module.frame.names.attrs.items())])

    def set_attribute(self, value: Value, name: str, content: Value) -> None:
        if isinstance(value, Choice):
            self.spread(value, lambda option: self.set_attribute(option, name, content))
        elif isinstance(value, Attributes):
            self.touch(value, name)
            value.attrs[name] = content
        elif isinstance(value, ModuleRef):
            module = self.load(value.name)
            if module is not None:
                self.touch(module.frame.names, name)
                module.frame.names.attrs[name] = content


def is_exception_class(cls: Class) -> bool:
    """Whether a class of the project derives from a built-in exception."""
    return any(
        isinstance(base, External) and is_exception(base.dotted) for item in cls.lineage() for base in item.bases
    )
