"""Python's built-in functions, over values that may be unknown."""

from __future__ import annotations

from typing import Any

from veomni_opslint.evaluate.builtin_iteration import ITERATION
from veomni_opslint.evaluate.cells import UNBOUND, Attributes, Opaque, Value, unknown
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.methods import METHODS
from veomni_opslint.evaluate.natives import argument, on_plain
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.type_tests import callable_test, class_test, instance_test, type_of
from veomni_opslint.evaluate.values import Arguments, Globals, Instance, ModuleRef, Wrapped


def _len(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, Instance) and value.cls.flavor != "namedtuple":
        return run.invoke(run.attribute(value, "__len__", "len"))
    if isinstance(value, IteratorValue):
        raise Raised("TypeError")
    return len(run.certain(value))


def _text(conversion: str) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        return run.formatted(argument(arguments, 0, default=""), conversion, "")

    return apply


def _format(run: Operators, arguments: Arguments) -> Value:
    return run.formatted(argument(arguments, 0), "", str(run.plain(arguments.get(1, "", ""))))


def _bool(run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else False
    return run.boolean(run.truth_of(value, arguments.frame.module.text(arguments.node)))


def _hasattr(run: Operators, arguments: Arguments) -> Value:
    value, name = argument(arguments, 0), str(run.plain(argument(arguments, 1)))
    try:
        found = run.attribute(value, name, name)
    except Raised:
        return False
    if reason_of(value) or isinstance(found, Opaque):
        return run.boolean(run.atom(("hasattr", found.key if isinstance(found, Opaque) else found, name),
                                    arguments.frame.module.text(arguments.node)))  # fmt: skip
    return True


def _getattr(run: Operators, arguments: Arguments) -> Value:
    value, name = argument(arguments, 0), str(run.plain(argument(arguments, 1)))
    default = arguments.get(2, "")
    try:
        found = run.attribute(value, name, arguments.frame.module.text(arguments.node))
    except Raised:
        if default is UNBOUND:
            raise
        return default
    if default is not UNBOUND and reason_of(value):
        return unknown(reason_of(value))
    return found


def _setattr(run: Operators, arguments: Arguments) -> Value:
    run.set_attribute(argument(arguments, 0), str(run.plain(argument(arguments, 1))), argument(arguments, 2))
    return None


def _vars(_run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else ModuleRef(arguments.frame.module.name)
    if isinstance(value, ModuleRef):
        return Globals(value.name)
    if isinstance(value, Attributes) and not (isinstance(value, Instance) and value.role):
        return DictValue(value.attrs.items())
    raise NotPlain(reason_of(value) or "comes from the attributes of an object")


def _maketrans(run: Operators, arguments: Arguments) -> Value:
    table = str.maketrans(*(run.plain(value) for value in arguments.positional))
    return DictValue((code, text if text is None else chr(text) if isinstance(text, int) else text)
                     for code, text in table.items())  # fmt: skip


def _wrapped(kind: Any) -> Handler:  # noqa: ANN401
    return lambda _run, arguments: Wrapped(kind, argument(arguments, 0))


def _print(_run: Operators, _arguments: Arguments) -> Value:
    return None


def _object(_run: Operators, arguments: Arguments) -> Value:
    return unknown("is a bare object") if arguments.positional else object()


BUILTINS: dict[str, Handler] = {
    **ITERATION,
    "len": _len,
    "range": on_plain(range),
    "slice": on_plain(slice),
    "int": on_plain(int),
    "float": on_plain(float),
    "abs": on_plain(abs),
    "divmod": on_plain(divmod),
    "round": on_plain(round),
    "chr": on_plain(chr),
    "ord": on_plain(ord),
    "hex": on_plain(hex),
    "bin": on_plain(bin),
    "oct": on_plain(oct),
    "str": _text("s"),
    "str.maketrans": _maketrans,
    "repr": _text("r"),
    "ascii": _text("a"),
    "format": _format,
    "bool": _bool,
    "isinstance": instance_test,
    "issubclass": class_test,
    "callable": callable_test,
    "type": type_of,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "setattr": _setattr,
    "vars": _vars,
    "globals": lambda _run, arguments: Globals(arguments.frame.module.name),
    "print": _print,
    "object": _object,
    "staticmethod": _wrapped("staticmethod"),
    "classmethod": _wrapped("classmethod"),
    "property": _wrapped("property"),
}


def builtin_handler(dotted: str) -> Handler | None:
    """The handler of a built-in function, or of a method taken from a built-in type (``str.upper``)."""
    name = dotted.removeprefix("builtins.")
    handler = BUILTINS.get(name)
    if handler is None and "." in name:
        owner, _, method = name.partition(".")
        kind = {"str": str, "list": ListValue, "dict": DictValue, "set": SetValue, "tuple": tuple}.get(owner)
        return METHODS[kind].get(method) if kind is not None else None
    return handler
