"""Registering a spec by a statement, and using the spec where the None of ``register`` was used: a fix of OPS104."""

from __future__ import annotations

import ast
import re

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Fix
from veomni_opslint.model import OpsModel
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, line_around

_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp)


def kept(model: OpsModel, facts: FileFacts, around: tuple[ast.AST, ...], node: ast.expr) -> Proposal:
    """Let the expression around the registration *node* have the spec.

    Raises:
        NotPossibleError: there is no spec to be had, or no place for the statement.
    """
    if not isinstance(node, ast.Call):
        raise NotPossibleError("no spec is given: which op, variant and name are meant only the author knows")
    match node:
        case ast.Call(args=[spec], keywords=[]) if not isinstance(spec, ast.Starred):
            pass
        case _:
            raise NotPossibleError("what is registered is not one argument, so that it is not known what is meant")
    if isinstance(around[0], ast.Attribute) and around[0].attr == model.dialect.register_method:
        raise NotPossibleError(
            "a second registration hangs on the None of the first, with a spec that is not this one's"
        )
    if isinstance(around[0], ast.Assign) and not all(isinstance(one, ast.Name) for one in around[0].targets):
        raise NotPossibleError("the result is taken apart, which neither None nor a spec can be")
    statement = next(one for one in around if isinstance(one, ast.stmt))
    inside = around[: around.index(statement)]
    repeated = isinstance(statement, ast.While | ast.ClassDef) or getattr(statement, "decorator_list", [])
    if repeated or any(isinstance(one, _LATER) for one in inside):
        raise NotPossibleError("the registration does not run once, at a place where a statement could stand")
    start, _ = extent(facts.text, model.place(facts.path, span_of(statement)))
    first, _ = line_around(facts.text, start)
    margin = facts.text[first:start]
    if margin.strip() or facts.text.startswith("elif", start):
        raise NotPossibleError("the line begins with something else")
    begins, ends = extent(facts.text, model.place(facts.path, span_of(node)))
    given = slice(*extent(facts.text, model.place(facts.path, span_of(spec))))
    name = spec.id if isinstance(spec, ast.Name) else _new_name(facts.text)
    register = f"{ast.unparse(node.func)}({name})\n{margin}"
    value = facts.text[given] if isinstance(spec, ast.Call) else f"({facts.text[given]})"
    bound = "" if isinstance(spec, ast.Name) else f"{name} = {value}\n{margin}"
    description = Fix("register the spec by a statement, and use the spec where the result was used", safe=False)
    return Proposal(description, lambda: (Edit(start, start, bound + register), Edit(begins, ends, name)))


def _new_name(text: str) -> str:
    taken = set(re.findall(r"[^\W\d]\w*", text))
    name, number = "_spec", 2
    while name in taken:
        name, number = f"_spec_{number}", number + 1
    return name
