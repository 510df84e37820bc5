"""Elements of values at an index or key: reading, setting and deleting them."""

from __future__ import annotations

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value, unknown
from veomni_opslint.evaluate.containers import Container, DictValue, ListValue, SetValue
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.operators import Operators, atom_key
from veomni_opslint.evaluate.values import Choice, Class, EnumMember, External, Globals, Instance, ModuleRef, Partial

_LITERALS = (External("typing.Literal"), External("typing_extensions.Literal"))


class Elements(Operators):
    """Subscripts."""

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
                return (
                    ListValue(value.items[index], unordered=value.unordered) if not value.lost else unknown(value.lost)
                )
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
