"""From the arguments of a call to the parameters of what is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, NamedTuple

from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.limits import Raised
from veomni_opslint.evaluate.values import Arguments, Field, Function


class Formal(NamedTuple):
    """One parameter."""

    name: str
    kind: Literal["positional", "normal", "var", "keyword", "kwvar"]
    default: Value = UNBOUND


def formals_of(function: Function) -> list[Formal]:
    """The parameters of a project function."""
    arguments: ast.arguments = function.node.args
    plain = [(node.arg, "positional") for node in arguments.posonlyargs]
    plain += [(node.arg, "normal") for node in arguments.args]
    first = len(plain) - len(function.defaults)
    found = [
        Formal(name, kind, function.defaults[index - first] if index >= first else UNBOUND)  # type: ignore[arg-type]
        for index, (name, kind) in enumerate(plain)
    ]
    if arguments.vararg is not None:
        found.append(Formal(arguments.vararg.arg, "var"))
    found.extend(
        Formal(node.arg, "keyword", function.keyword_defaults.get(node.arg, UNBOUND)) for node in arguments.kwonlyargs
    )
    if arguments.kwarg is not None:
        found.append(Formal(arguments.kwarg.arg, "kwvar"))
    return found


def formals_of_fields(fields: Sequence[Field]) -> list[Formal]:
    """The parameters of the ``__init__`` that a dataclass or named tuple has for its fields."""
    usable = [item for item in fields if item.init]
    ordered = [item for item in usable if not item.keyword_only] + [item for item in usable if item.keyword_only]
    return [
        Formal(item.name, "keyword" if item.keyword_only else "normal",
               item.factory if item.default is UNBOUND else item.default)
        for item in ordered
    ]  # fmt: skip


def bind(formals: Sequence[Formal], arguments: Arguments) -> dict[str, Value]:
    """The value of each parameter.

    Raises:
        Raised: the call does not fit the parameters.
    """
    bound: dict[str, Value] = {}
    positional = list(arguments.positional)
    keywords = dict(arguments.keywords)
    for formal in formals:
        if formal.kind == "var":
            bound[formal.name] = unknown(arguments.lost) if arguments.lost else tuple(positional)
            positional = []
        elif formal.kind == "kwvar":
            extra = DictValue(keywords.items())
            if arguments.lost_keywords:
                extra.lose(arguments.lost_keywords)
            bound[formal.name] = extra
            keywords = {}
        else:
            bound[formal.name] = _one(formal, positional, keywords, arguments)
    if positional or keywords:
        raise Raised("TypeError", "passes arguments that do not fit")
    return bound


def _one(formal: Formal, positional: list[Value], keywords: dict[str, Value], arguments: Arguments) -> Value:
    if formal.kind != "keyword" and positional:
        if formal.kind == "normal" and formal.name in keywords:
            raise Raised("TypeError", "passes arguments that do not fit")
        return positional.pop(0)
    if formal.kind != "positional" and formal.name in keywords:
        return keywords.pop(formal.name)
    if arguments.lost and formal.kind != "keyword":
        return unknown(arguments.lost)
    if arguments.lost_keywords and formal.kind != "positional":
        return unknown(arguments.lost_keywords)
    if formal.default is UNBOUND:
        raise Raised("TypeError", f"leaves out the argument {formal.name}")
    return formal.default
