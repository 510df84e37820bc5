"""Where an argument of a call is written, so that a finding points at the very line to edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Place
from veomni_opslint.model.ops_model import OpsModel


def argument_place(model: OpsModel, call: Place, name: str, parameters: Sequence[str]) -> Place:
    """The place of the argument for the parameter *name* of the call at *call*; that of the call where it has none.

    *parameters* are the names of the positional parameters in order.
    """
    node = _call_at(model, call)
    if node is None:
        return call
    for keyword in node.keywords:
        if keyword.arg == name:
            return model.place(call.path, (keyword.lineno, keyword.col_offset, *span_of(keyword.value)[2:]))
    index = parameters.index(name) if name in parameters else len(node.args)
    before = node.args[: index + 1]
    if len(before) <= index or any(isinstance(one, ast.Starred) for one in before):
        return call
    return model.place(call.path, span_of(node.args[index]))


def _call_at(model: OpsModel, place: Place) -> ast.Call | None:
    facts = model.files.get(place.path)
    if facts is None or facts.problem is not None:
        return None
    for node in ast.walk(ast.parse(facts.text)):
        if isinstance(node, ast.Call) and node.lineno == place.line and model.place(place.path, span_of(node)) == place:
            return node
    return None
