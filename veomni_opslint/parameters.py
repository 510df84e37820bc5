"""The parameters of a function, in the order in which arguments are bound to them."""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    kind: Literal["positional", "normal", "var", "keyword", "kwvar"]
    has_default: bool


def parameters_of(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters in order."""
    plain = [(argument, "positional") for argument in arguments.posonlyargs]
    plain += [(argument, "normal") for argument in arguments.args]
    first_default = len(plain) - len(arguments.defaults)
    found = [
        Parameter(argument.arg, kind, index >= first_default)  # type: ignore[arg-type]
        for index, (argument, kind) in enumerate(plain)
    ]
    if arguments.vararg is not None:
        found.append(Parameter(arguments.vararg.arg, "var", False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(Parameter(argument.arg, "keyword", default is not None))
    if arguments.kwarg is not None:
        found.append(Parameter(arguments.kwarg.arg, "kwvar", False))
    return tuple(found)
