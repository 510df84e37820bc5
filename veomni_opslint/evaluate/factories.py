"""What the value given as ``factory=`` is."""

from __future__ import annotations

import ast

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.values import Class, External, Function, Instance, Method, Native, Partial, Wrapped
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Factory, Known, Unknown


def factory_of(value: Value, text: str, written: Place) -> Known[Factory]:
    """Classify a factory; *text* and *written* are the expression at the registration and its place."""
    if isinstance(value, Wrapped):
        value = value.function
    if isinstance(value, Function):
        return _of_function(value, text, written)
    if isinstance(value, Method) and isinstance(value.function, Function):
        found = _of_function(value.function, text, written)
        return found._replace(kind="method", bound=1)
    if isinstance(value, Partial):
        return _of_partial(value, text, written)
    if isinstance(value, Class):
        if value.module is None or value.node is None:
            return Factory("external", text, written, dotted=value.name)
        place = value.module.place(value.node)
        return Factory("class", text, written, value.module.name, value.qualname, place)
    if isinstance(value, External):
        return Factory("external", text, written, dotted=value.dotted)
    if isinstance(value, Opaque):
        return Factory("call", text, written, dotted=value.call) if value.call else Unknown(f"factory {value.reason}")
    if isinstance(value, Instance) and (value.cls.opaque_base or value.cls.find("__call__") is not UNBOUND):
        return Unknown(f"factory is an object of {value.cls.name}, which can be called")
    if isinstance(value, Native):
        return Unknown("factory is a method of a built-in value")
    reason = reason_of(value)
    return Unknown(f"factory {reason}") if reason else Factory("other", text, written)


def _of_function(value: Function, text: str, written: Place) -> Factory:
    kind = "lambda" if isinstance(value.node, ast.Lambda) else "method" if value.owner is not None else "function"
    return Factory(
        kind,  # type: ignore[arg-type]
        text,
        written,
        value.module.name,
        value.qualname,
        value.module.place(value.node),
        _in_function(value),
    )


def _in_function(value: Function) -> bool:
    frame = value.frame.function_frame()
    while frame.kind == "class" and frame.parent is not None:
        frame = frame.parent
    return frame.kind == "function"


def _of_partial(value: Partial, text: str, written: Place) -> Known[Factory]:
    inner = factory_of(value.function, text, written)
    if isinstance(inner, Unknown):
        return inner
    return inner._replace(
        kind="partial",
        bound=inner.bound + len(value.positional),
        bound_names=tuple(name for name, _ in value.keywords),
    )
