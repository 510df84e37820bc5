"""Calls of values, each kind of them in its way, and of what cannot be followed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from veomni_opslint.evaluate.bodies import Bodies
from veomni_opslint.evaluate.builtin_functions import builtin_handler
from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value, unknown
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.escapes import is_pure, is_stable, only_logs
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.library_functions import HARMLESS_DECORATORS, LIBRARY, harmless_decorator
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.methods import METHODS, MUTATORS
from veomni_opslint.evaluate.operators import Handler, atom_key
from veomni_opslint.evaluate.path import is_exception
from veomni_opslint.evaluate.values import (
    Arguments,
    Choice,
    Class,
    Context,
    EnumMember,
    External,
    Function,
    Instance,
    Method,
    Native,
    Partial,
    Wrapped,
)

_CONSUMING = frozenset((".join", "sorted", "tuple", "sum", "min", "max", "reduce", "dict", "fromkeys", "product"))
_CALLING = frozenset(("map", "filter", "sorted", "reduce", "starmap", "min", "max", "methodcaller()", "partial"))
_STORING = frozenset((".append", "dict", "partial", "SimpleNamespace", "print"))


class Calls(Bodies):
    """Calling values."""

    def call(self, function: Value, arguments: Arguments) -> Value:
        self.spend()
        function = self.prune(function)
        if isinstance(function, Choice):
            return self.spread(function, lambda option: self.call(option, arguments))
        if isinstance(function, Function):
            return self.call_function(function, arguments)
        if isinstance(function, Method):
            return self.call(function.function, arguments.with_first(function.receiver))
        if isinstance(function, Class):
            return self.instantiate(function, arguments)
        if isinstance(function, Native):
            return self._call_native(function, arguments)
        if isinstance(function, External):
            return self._call_external(function, arguments)
        if isinstance(function, Partial):
            positional = function.positional + arguments.positional
            keywords = {**dict(function.keywords), **arguments.keywords}
            return self.call(function.function, arguments.replaced(positional, keywords))
        if isinstance(function, Wrapped):
            return self._call_wrapped(function, arguments)
        if isinstance(function, Instance) and function.cls.find("__call__") is not UNBOUND:
            return self.call(self.attribute(function, "__call__", "__call__"), arguments)
        if isinstance(function, Opaque) and isinstance(function.hides, Function | Class):
            self.report_registering(function.hides, arguments, function.reason)
        if isinstance(function, Opaque | Instance | EnumMember):
            callee = self._callee(arguments)
            return self.unknown_call(callee, reason_of(function) or "is the result of calling an object", arguments)
        raise Raised("TypeError", "calls something that cannot be called")

    def _call_wrapped(self, function: Wrapped, arguments: Arguments) -> Value:
        if function.kind == "contextmanager":
            return Context(function.function, arguments)
        if function.kind == "cached":
            return self._call_cached(function.function, arguments)
        return self.call(function.function, arguments)

    def _call_cached(self, function: Value, arguments: Arguments) -> Value:
        holder = function.function if isinstance(function, Wrapped) else function
        if not isinstance(holder, Function):
            return self.call(function, arguments)
        memory = holder.attrs.get("__cache__", UNBOUND)
        if not isinstance(memory, DictValue):
            memory = DictValue()
            holder.attrs["__cache__"] = memory
        key = (arguments.positional, tuple(sorted(arguments.keywords.items())))
        try:
            entry = memory.entries.get(key_of(key))
        except NotPlain:
            return self.call(function, arguments)

        def remember(value: Value) -> Value:
            if value is UNBOUND:
                value = self.call(function, arguments)
                self.touch(memory)
                memory.put(key, value)
            return value

        return self.each_option(UNBOUND if entry is None else entry[1], remember)

    def _call_native(self, function: Native, arguments: Arguments) -> Value:
        receiver, name = function.receiver, function.name
        if isinstance(receiver, Class | Instance):
            return self._call_of_object(receiver, name, arguments)
        handler = METHODS[type(receiver)][name]
        return self.native(handler, arguments.with_first(receiver), f".{name}", mutates=name in MUTATORS)

    def _call_of_object(self, receiver: Class | Instance, name: str, arguments: Arguments) -> Value:
        if name == self.dialect.register_method:
            return self.register_kernel(arguments)
        if name == "__init__" and isinstance(receiver, Class):
            instance = arguments.get(0, "")
            if isinstance(instance, Instance):
                self.fill(instance, receiver, arguments.replaced(arguments.positional[1:], arguments.keywords))
        if name == "_make" and isinstance(receiver, Class):
            return self.instantiate(receiver, arguments.replaced(tuple(self.ordered(arguments.get(0, ""))), {}))
        if name == "_replace" and isinstance(receiver, Instance):
            return self.replaced(receiver, arguments)
        if name == "_asdict" and isinstance(receiver, Instance):
            return DictValue((item.name, receiver.attrs.get(item.name)) for item in receiver.cls.fields)
        if name == "__setattr__":
            self.set_attribute(receiver, str(self.plain(arguments.get(0, ""))), arguments.get(1, ""))
        return None

    def _call_external(self, function: External, arguments: Arguments) -> Value:
        dotted = function.dotted
        if dotted.startswith("builtins."):
            if dotted == "builtins.object.__setattr__":
                self.set_attribute(arguments.get(0, ""), str(self.plain(arguments.get(1, ""))), arguments.get(2, ""))
                return None
            if dotted.startswith("builtins.object."):
                return None
            handler = builtin_handler(dotted)
            if handler is None and is_exception(dotted):
                return unknown("is an exception", dotted)
        else:
            handler = LIBRARY.get(dotted)
        if handler is not None:
            return self.native(handler, arguments, function.last, mutates=function.last in MUTATORS)
        if dotted in HARMLESS_DECORATORS:
            return harmless_decorator(dotted, arguments)
        if function.last == self.dialect.register_op:
            return self.register_op(arguments)
        return self.unknown_call(dotted, f"comes from {dotted}(), which is known only at run time", arguments)

    def native(self, handler: Handler, arguments: Arguments, label: str, *, mutates: bool = False) -> Value:
        """Call a modelled function, once for each combination of choices among its arguments."""
        if arguments.lost or arguments.lost_keywords:
            return self._unfollowed(arguments, label, arguments.lost or arguments.lost_keywords, mutates=mutates)
        values = (*arguments.positional, *arguments.keywords.values())
        try:
            if label in _CONSUMING:
                # Taken out first: what a failed attempt consumes would be missing in the next one.
                values = tuple(self._taken_out(value) for value in values)
                arguments = _with_values(arguments, values)
            if any(isinstance(value, Choice) for value in _split(arguments, label)):
                return self.combined(values, self._again(handler, arguments))
            try:
                return handler(self, arguments)
            except NotPlain:
                parts = [] if mutates else [self.settled(value) for value in values]
                if all(len(part) == 1 for part in parts):
                    raise
                return self.in_each(self.combine(parts), self._again(handler, arguments))
        except NotPlain as problem:
            return self._unfollowed(arguments, label, problem.reason, mutates=mutates)

    def _taken_out(self, value: Value) -> Value:
        if not isinstance(value, IteratorValue):
            return value
        return ListValue(self.elements(value), unordered=value.unordered)

    def _again(self, handler: Handler, arguments: Arguments) -> Callable[[list[Value]], Value]:
        return lambda values: self.native(handler, _with_values(arguments, tuple(values)), "")

    def _unfollowed(self, arguments: Arguments, label: str, reason: str, *, mutates: bool) -> Value:
        if label in _CALLING:
            self.hand_over(f"{label}()", arguments, f"with something that {reason}")
        if mutates and arguments.positional:
            self.forget(arguments.positional[0], reason)
        return unknown(reason)

    def unknown_call(self, callee: str, reason: str, arguments: Arguments) -> Value:
        if not only_logs(callee):
            self.hand_over(f"{callee}()", arguments)
            if not is_pure(callee):
                for value in (*arguments.positional, *arguments.keywords.values()):
                    self.forget(value, f"was handed to {callee}(), which may have changed it")
        text = f"{arguments.frame.module.text(arguments.node)} succeeds" if self.catching else ""
        if not is_stable(callee) or arguments.lost or arguments.lost_keywords:
            self.may_raise("", text)
            return unknown(reason, callee)
        keywords = tuple((name, atom_key(value)) for name, value in sorted(arguments.keywords.items()))
        key = ("call", callee, tuple(atom_key(value) for value in arguments.positional), keywords)
        self.may_raise("", text, key)
        return Opaque(reason, key, callee)

    def _callee(self, arguments: Arguments) -> str:
        node = arguments.node
        return arguments.frame.module.text(node.func) if isinstance(node, ast.Call) else "a function"


def _with_values(arguments: Arguments, values: tuple[Value, ...]) -> Arguments:
    """The same call with other values for its positional arguments and keywords."""
    count = len(arguments.positional)
    return arguments.replaced(values[:count], dict(zip(arguments.keywords, values[count:], strict=True)))


def _split(arguments: Arguments, label: str) -> tuple[Value, ...]:
    """The arguments that a modelled function needs one by one: not those that it only stores."""
    if label in _STORING:
        return arguments.positional[:1]
    return (*arguments.positional, *arguments.keywords.values())
