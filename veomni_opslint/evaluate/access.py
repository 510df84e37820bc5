"""Attributes and elements: reading, setting and deleting them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from veomni_opslint.evaluate.containers import Container, DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.methods import METHODS
from veomni_opslint.evaluate.operators import Operators, atom_key
from veomni_opslint.evaluate.values import (
    UNBOUND,
    Attributes,
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
    Opaque,
    Partial,
    Super,
    Value,
    Wrapped,
    key_of,
    unknown,
)

_PYTHON_TYPES: dict[type, type] = {
    ListValue: list,
    DictValue: dict,
    SetValue: set,
    IteratorValue: Iterator,
}
_LITERALS = (External("typing.Literal"), External("typing_extensions.Literal"))
_OUTSIDE_BASE = "comes from a base class outside the project"


class Access(Operators):
    """Attributes and elements of values."""

    def attribute(self, value: Value, name: str, text: str) -> Value:
        return self.spread(value, lambda option: self._attribute(option, name, text))

    def _attribute(self, value: Value, name: str, text: str) -> Value:  # noqa: PLR0912
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
        if own is not UNBOUND:
            return unknown("depends on what is registered") if value.role == "registry" else self.prune(own)
        if found is not UNBOUND:
            return self._bound(found, value, value.cls)
        if name == "__class__":
            return value.cls
        if value.cls.flavor == "namedtuple" and name in {"_asdict", "_replace", "index", "count"}:
            return Native(value, name)
        if value.cls.opaque_base or value.role == "registry":
            return unknown(_OUTSIDE_BASE)
        if value.cls.find("__getattr__") is not UNBOUND:
            return self.invoke(self._bound(value.cls.find("__getattr__"), value, value.cls), name)
        if name == "__dict__":
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
        if value.opaque_base or name.startswith("__"):
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

    def subscript(self, value: Value, index: Value, text: str) -> Value:
        return self.combined([value, index], lambda parts: self._settled_element(parts[0], parts[1], text))

    def _settled_element(self, value: Value, index: Value, text: str) -> Value:
        try:
            return self._subscript(value, index, text)
        except NotPlain:
            options = self.settled(value)
            if len(options) == 1:
                raise
            return self.in_each(
                [(when, [option]) for when, option in options], lambda parts: self._subscript(parts[0], index, text)
            )

    def _subscript(self, value: Value, index: Value, text: str) -> Value:
        if isinstance(value, External | Opaque):
            return self._of_unknown(value, index, text)
        if isinstance(value, DictValue):
            return self._of_dict(value, index, text)
        if isinstance(value, Class):
            if value.flavor != "enum":
                return value
            member = value.attrs.get(index, UNBOUND) if isinstance(index, str) else UNBOUND
            if member is UNBOUND:
                raise Raised("KeyError")
            return member
        if isinstance(value, Globals):
            return self.module_attribute(value.module, str(self.plain(index)))
        if isinstance(value, Instance) and value.cls.flavor != "namedtuple":
            return self.invoke(self.attribute(value, "__getitem__", text), index)
        items: Value = value
        if isinstance(value, ListValue):
            if index in (slice(None), slice(None, None, -1)):
                return ListValue(value.items[index], unordered=value.unordered) if not value.lost else unknown(value.lost)
            items = tuple(self.ordered(value))
        elif isinstance(value, Instance):
            items = value.sequence
        elif isinstance(value, EnumMember) and value.plain is not UNBOUND:
            items = value.plain
        if not isinstance(items, tuple | str | bytes | range):
            raise NotPlain(reason_of(value) or "is looked up in a value that is not known")
        place = self.plain(index)
        try:
            found: Value = items[place]
        except (IndexError, TypeError) as problem:
            raise Raised(type(problem).__name__) from problem
        if isinstance(found, tuple) and isinstance(value, ListValue):
            return ListValue(found)
        return self.prune(found)

    def _of_unknown(self, value: External | Opaque, index: Value, text: str) -> Value:
        if value in _LITERALS:
            return Partial(External("typing.Literal[]"), index if isinstance(index, tuple) else (index,), ())
        if value == External("sys.modules") and isinstance(index, str):
            return ModuleRef(index) if index in self.prefixes else External(index)
        key = ("item", atom_key(value), atom_key(index))
        self.may_raise("KeyError", text, key)
        return Opaque(reason_of(value), key)

    def _of_dict(self, table: DictValue, index: Value, text: str) -> Value:
        table.check_known()
        entry = table.entries.get(key_of(known(index)))
        if entry is None:
            if table.default_factory is UNBOUND or table.default_factory is None:
                raise Raised("KeyError", "looks up a key that is not there")
            value = self.invoke(table.default_factory)
            self.touch(table)
            table.put(index, value)
            return value
        value = entry[1]
        if isinstance(value, Choice) and any(option is UNBOUND and self.feasible(when)
                                             for when, option in value.options):  # fmt: skip
            self.may_raise("KeyError", text, (table, key_of(index)))
        return self.prune(value)

    def set_item(self, value: Value, index: Value, content: Value) -> None:
        """Set the element of a value at an index or key."""
        if isinstance(value, Choice):
            self.spread(value, lambda option: self.set_item(option, index, content))
        elif isinstance(value, DictValue):
            self.touch(value)
            if isinstance(index, Choice):
                value.lose("has keys that depend on conditions")
            else:
                value.put(index, content)
        elif isinstance(value, ListValue):
            self.touch(value)
            self._set_in_list(value, index, content)
        elif isinstance(value, Globals):
            self.set_attribute(ModuleRef(value.module), str(self.plain(index)), content)
        elif isinstance(value, Instance):
            self.invoke(self.attribute(value, "__setitem__", "__setitem__"), index, content)

    def _set_in_list(self, values: ListValue, index: Value, content: Value) -> None:
        try:
            items = self.ordered(values)
            if isinstance(index, slice):
                items[index] = self.ordered(content)
            else:
                items[self.plain(index)] = content
            values.items[:] = items
        except NotPlain as problem:
            values.lose(problem.reason)
        except (IndexError, TypeError, ValueError) as problem:
            raise Raised(type(problem).__name__) from problem

    def delete_item(self, value: Value, index: Value) -> None:
        """Delete the element of a value at an index or key."""
        value = self.prune(value)
        if isinstance(value, Globals):
            module = self.load(value.module)
            if module is not None:
                self.touch(module.frame.names, str(index))
                module.frame.names.attrs.pop(str(index), None)
        elif isinstance(value, Container):
            self.touch(value)
            try:
                if isinstance(value, DictValue | SetValue):
                    if value.entries.pop(key_of(known(index)), None) is None:
                        raise Raised("KeyError")
                elif isinstance(value, ListValue):
                    items = self.ordered(value)
                    del items[self.plain(index)]
                    values: list[Value] = items
                    value.items[:] = values
            except NotPlain as problem:
                value.lose(problem.reason)
            except (IndexError, TypeError) as problem:
                raise Raised(type(problem).__name__) from problem
