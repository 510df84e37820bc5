"""What a call that cannot be followed may do: change what it is given, or register it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from veomni_opslint.evaluate.access import Access
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import Container, KeyedContainer, ListValue, SetValue
from veomni_opslint.evaluate.methods import MUTATORS
from veomni_opslint.evaluate.roots import names_any
from veomni_opslint.evaluate.values import (
    LOST,
    Arguments,
    Choice,
    Class,
    External,
    Function,
    Instance,
    Maybe,
    Method,
    ModuleRef,
    Native,
    Partial,
    Wrapped,
)

_CHANGERS = frozenset((
    "random.shuffle", "heapq.heapify", "heapq.heappush", "heapq.heappop", "bisect.insort", "bisect.insort_left",
    "bisect.insort_right",
))  # fmt: skip
_LOGGING = frozenset((
    "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "info_once", "warning_once",
    "info_rank0", "warning_rank0", "debug_rank0", "debug_once", "getLogger", "get_logger", "print", "pprint",
))  # fmt: skip
_UNSTABLE = frozenset(("random", "time", "uuid", "secrets", "tempfile", "itertools", "queue"))
_CONSUMERS = frozenset(("next", "pop", "popitem", "get_nowait", "read", "readline", "input", "random"))


def only_logs(callee: str) -> bool:
    """Whether the function only writes messages."""
    return callee.rpartition(".")[2] in _LOGGING


def is_pure(callee: str) -> bool:
    """Whether the function is known not to change its arguments."""
    root = callee.partition(".")[0]
    if callee in _CHANGERS:
        return False
    return root in sys.stdlib_module_names or root in {"builtins", "torch", "numpy", "np"} or only_logs(callee)


def is_stable(callee: str) -> bool:
    """Whether equal calls within one run are taken to give equal results."""
    return callee.partition(".")[0] not in _UNSTABLE and callee.rpartition(".")[2] not in _CONSUMERS


class Escapes(Access):
    """What happens to values that code which cannot be followed gets hold of."""

    def hand_over(self, callee: str, arguments: Arguments, why: str = "which cannot be followed") -> None:
        """Report that *callee* may register something with what it is given."""
        for value in (*arguments.positional, *arguments.keywords.values()):
            for inner in reachable(value, 3):
                what = self._registering(inner)
                if what:
                    reason = f"{what} is handed to {callee}, {why}"
                    self.report_unresolved(arguments.node, arguments.frame, reason)
                    return

    def _registering(self, value: Value) -> str:
        if isinstance(value, Instance):
            if value.role == "registry":
                return self.dialect.registry
            return f"a {value.cls.name}" if value.role in {"kernel_spec", "op_spec"} else ""
        if (
            isinstance(value, Native)
            and value.name == self.dialect.register_method
            and isinstance(value.receiver, Instance)
        ):
            return f"{self.dialect.registry}.{value.name}"
        if isinstance(value, Function):
            self.forget_tables(value)
            return f"{value.name}(), which registers kernels," if self._may_register(value) else ""
        return ""

    def report_registering(self, function: Function | Class, arguments: Arguments, why: str) -> None:
        """Report that a function or class which may register something is called, but cannot be followed."""
        if isinstance(function, Function):
            self.forget_tables(function)
        if self._may_register(function):
            self.report_unresolved(arguments.node, arguments.frame, f"{function.name}() registers kernels, but {why}")

    def _may_register(self, function: Function | Class) -> bool:
        words = self.words.get(function.module.name) if function.module is not None else None
        if words is None:
            return False
        if isinstance(function, Class):
            return function.name in words.bound
        body = self.body_of(function)
        return function.name in words.bound if body is None else names_any(body, words, self.dialect)

    def body_of(self, function: Function) -> list[ast.stmt] | None:
        """The statements of a project function, None when they cannot be read."""
        raise NotImplementedError

    def forget(self, value: Value, reason: str) -> None:
        """Take the contents of what can be changed as unknown."""
        for inner in reachable(value, 3):
            if isinstance(inner, Container) and not (isinstance(inner, SetValue) and inner.frozen):
                self.touch(inner)
                inner.lose(reason)
            elif isinstance(inner, Instance) and not inner.role and not inner.cls.frozen:
                for name in (*inner.attrs, LOST) if inner.cls.flavor != "namedtuple" else ():
                    self.touch(inner, name)
                    inner.poison(name, reason)

    def forget_tables(self, function: Function) -> None:
        """Take what the function changes in its module as unknown: its body is not run."""
        reason = f"changes in {function.name}(), which cannot be followed"
        names = function.module.frame.names
        for name in changed_names(self.body_of(function) or []):
            value = names.attrs.get(name, UNBOUND)
            if isinstance(value, Container):
                self.forget(value, reason)
            elif value is not UNBOUND and not isinstance(value, Function | Class | External | ModuleRef):
                self.touch(names, name)
                names.poison(name, reason)


def changed_names(body: list[ast.stmt]) -> set[str]:
    """The names that are declared global, and those whose elements or contents the code changes."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Global):
            found.update(node.names)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found.update(item.id for item in (node.value,) if isinstance(item, ast.Name))
        elif isinstance(node, ast.Attribute) and node.attr in MUTATORS and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        waiting.extend(ast.iter_child_nodes(node))
    return found


def reachable(value: Value, depth: int) -> Iterator[Value]:
    """The value and what it holds, as deep as *depth*, each once."""
    seen: set[int] = set()
    waiting = [(value, depth)]
    while waiting:
        current, left = waiting.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            if left:
                waiting.extend((inner, left - 1) for inner in reversed(_held_by(current)))


def _held_by(value: Value) -> list[Value]:
    if isinstance(value, Choice):
        return [option for _, option in value.options]
    if isinstance(value, Maybe):
        return [value.value]
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, ListValue):
        return list(value.items)
    if isinstance(value, KeyedContainer):
        return [item for _, item in value.entries.values()]
    if isinstance(value, Partial):
        return [value.function, *value.positional, *(item for _, item in value.keywords)]
    if isinstance(value, Method | Wrapped):
        return [value.function]
    return []
