"""Functions of the standard library that module-level code uses to build tables and callables."""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Callable
from typing import Any

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.library_iterators import ITERATORS
from veomni_opslint.evaluate.library_objects import OBJECTS, first
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.natives import argument, each
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments, Class, External, Function, Partial, Wrapped

HARMLESS_DECORATORS = frozenset((
    "functools.total_ordering", "abc.abstractmethod", "enum.unique", "typing.overload",
    "typing.final", "typing.no_type_check", "typing.runtime_checkable", "typing_extensions.overload",
    "typing_extensions.final", "typing.override", "typing_extensions.override", "warnings.deprecated",
    "typing_extensions.deprecated", "torch.no_grad", "torch.inference_mode", "torch.enable_grad",
    "torch.compiler.disable", "torch._dynamo.disable", "torch.jit.ignore", "torch.jit.unused", "torch.jit.export",
    "torch._disable_dynamo",
))  # fmt: skip


def harmless_decorator(dotted: str, arguments: Arguments) -> Value:
    """The function decorated, or the decorator itself when it is called with settings first."""
    if len(arguments.positional) == 1 and isinstance(arguments.positional[0], Function | Class | Wrapped | Partial):
        return arguments.positional[0]
    return External(dotted)


def _partial(_run: Operators, arguments: Arguments) -> Value:
    if arguments.lost or arguments.lost_keywords:
        raise NotPlain(arguments.lost or arguments.lost_keywords)
    function, *rest = arguments.positional
    positional, keywords = tuple(rest), arguments.keywords
    if isinstance(function, Partial):
        positional = function.positional + positional
        keywords = {**dict(function.keywords), **keywords}
        function = function.function
    return Partial(function, positional, tuple(keywords.items()))


def _reduce(run: Operators, arguments: Arguments) -> Value:
    call = each(run, argument(arguments, 0), arguments)
    items = run.ordered(argument(arguments, 1))
    if len(arguments.positional) > 2:
        items.insert(0, arguments.positional[2])
    if not items:
        raise Raised("TypeError")
    total = items[0]
    for item in items[1:]:
        total = call(total, item)
    return total


def _cached(_run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if len(arguments.positional) == 1 else UNBOUND
    return Wrapped("cached", value) if isinstance(value, Function | Wrapped) else External("functools.cache")


def _wraps(_run: Operators, arguments: Arguments) -> Value:
    return Partial(External("functools.update_wrapper"), (), (("wrapped", argument(arguments, 0, "wrapped")),))


def _update_wrapper(run: Operators, arguments: Arguments) -> Value:
    wrapper, wrapped = argument(arguments, 0, "wrapper"), argument(arguments, 1, "wrapped")
    if isinstance(wrapper, Function):
        if isinstance(wrapped, Function):
            for name, value in wrapped.attrs.items():
                run.set_attribute(wrapper, name, value)
            run.set_attribute(wrapper, "__name__", run.attribute(wrapped, "__name__", "__name__"))
        run.set_attribute(wrapper, "__wrapped__", wrapped)
    return wrapper


def _stored(arguments: Arguments, name: str) -> Value:
    if arguments.keywords:
        raise NotPlain("is made in a way that is not followed")
    return Partial(External(f"operator.{name}()"), arguments.positional, ())


def _itemgetter(run: Operators, arguments: Arguments) -> Value:
    *keys, value = arguments.positional
    found = tuple(run.subscript(value, key, "an element") for key in keys)
    return found[0] if len(found) == 1 else found


def _attrgetter(run: Operators, arguments: Arguments) -> Value:
    *names, value = arguments.positional
    found = []
    for name in names:
        item = value
        for part in str(run.plain(name)).split("."):
            item = run.attribute(item, part, part)
        found.append(item)
    return found[0] if len(found) == 1 else tuple(found)


def _methodcaller(run: Operators, arguments: Arguments) -> Value:
    name, *rest, value = arguments.positional
    return each(run, run.attribute(value, str(run.plain(name)), "a method"), arguments)(*rest)


def _on_two(function: Callable[[Any, Any], Any]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        left, right = arguments.positional
        try:
            result: Value = function(run.plain(left), run.plain(right))
        except (TypeError, ArithmeticError) as problem:
            raise Raised(type(problem).__name__) from problem
        return result

    return apply


def _getitem(run: Operators, arguments: Arguments) -> Value:
    return run.subscript(argument(arguments, 0), argument(arguments, 1), "an element")


def _get_args(_run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, Partial) and value.function == External("typing.Literal[]"):
        return value.positional
    raise NotPlain(reason_of(value) or "comes from a type")


def _second(_run: Operators, arguments: Arguments) -> Value:
    return argument(arguments, 1, "val")


def _import_module(run: Operators, arguments: Arguments) -> Value:
    name = str(run.plain(argument(arguments, 0, "name")))
    if name.startswith("."):
        package = str(run.plain(arguments.get(1, "package", "")))
        level = len(name) - len(name.lstrip("."))
        parts = package.split(".")
        name = ".".join([*parts[: len(parts) - level + 1], name.lstrip(".")]).rstrip(".")
    return run.import_named(name, arguments.frame.module.text(arguments.node))


def _path(name: str) -> Handler:
    function = getattr(posixpath, name)

    def apply(run: Operators, arguments: Arguments) -> Value:
        try:
            result: Value = function(*(run.plain(value) for value in arguments.positional))
        except TypeError as problem:
            raise Raised("TypeError") from problem
        return result

    return apply


LIBRARY: dict[str, Handler] = {
    **ITERATORS,
    **OBJECTS,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.cache": _cached,
    "functools.lru_cache": _cached,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "functools.cached_property": lambda _run, arguments: Wrapped("property", argument(arguments, 0)),
    "contextlib.contextmanager": lambda _run, arguments: Wrapped("contextmanager", argument(arguments, 0)),
    "operator.itemgetter": lambda _run, arguments: _stored(arguments, "itemgetter"),
    "operator.itemgetter()": _itemgetter,
    "operator.attrgetter": lambda _run, arguments: _stored(arguments, "attrgetter"),
    "operator.attrgetter()": _attrgetter,
    "operator.methodcaller": lambda _run, arguments: _stored(arguments, "methodcaller"),
    "operator.methodcaller()": _methodcaller,
    "operator.add": _on_two(operator.add),
    "operator.mul": _on_two(operator.mul),
    "operator.sub": _on_two(operator.sub),
    "operator.getitem": _getitem,
    "typing.get_args": _get_args,
    "typing.cast": _second,
    "typing.NewType": lambda _run, _arguments: External("typing.NewType()"),
    "typing.NewType()": first,
    "sys.intern": first,
    "enum.auto": lambda _run, _arguments: External("enum.auto()"),
    "importlib.import_module": _import_module,
    **{f"os.path.{name}": _path(name) for name in ("join", "basename", "dirname", "splitext", "normpath")},
}
