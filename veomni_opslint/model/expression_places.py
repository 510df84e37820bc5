"""The expression or statement at the place of a finding, and what it stands in: for the fixes of rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.factories import parsed
from veomni_opslint.places import place_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where an expression stands.

    ``depends_on_loop``: it uses a name that takes several values, so that what is looked up later is another one.
    ``is_plain``: it uses no name that is local to a function, and none that the file binds more than once.
    """

    depends_on_loop: bool
    is_plain: bool

    @classmethod
    def of(cls, facts: FileFacts, node: ast.expr) -> Surroundings | None:
        """Those of *node*, an expression of the file; None where the file cannot be read."""
        tree = parsed(facts.text)
        if tree is None:
            return None
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        looped: set[str] = set()
        local = False
        for around in ancestors(tree, node):
            if isinstance(around, ast.For | ast.AsyncFor):
                looped |= _stored(around.target)
            elif isinstance(around, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                looped |= {name for generator in around.generators for name in _stored(generator.target)}
            local = local or isinstance(around, (*_FUNCTIONS, ast.ClassDef))
        times = [sum(binding.name == name and binding.scope == 0 for binding in facts.bindings) for name in names]
        return cls(bool(looped & names), not local and all(count <= 1 for count in times))


def expression_at(facts: FileFacts, place: Place) -> ast.expr | None:
    """The expression that is exactly at *place*."""
    tree = parsed(facts.text)
    for node in ast.walk(tree) if tree is not None else ():
        if (
            isinstance(node, ast.expr)
            and node.lineno == place.line
            and place_of(facts.path, facts.text, span_of(node)) == place
        ):
            return node
    return None


def tests_around(facts: FileFacts, place: Place) -> Iterator[tuple[str, Place]]:
    """The conditions, as written and with their places, in whose positive branch the expression at *place* stands."""
    node, tree = expression_at(facts, place), parsed(facts.text)
    if node is None or tree is None:
        return
    below: ast.AST = node
    for around in ancestors(tree, node):
        if isinstance(around, _FUNCTIONS):
            return
        branch = around.body if isinstance(around, ast.If | ast.IfExp) else ()
        if isinstance(around, ast.If | ast.IfExp) and (
            below is branch or (isinstance(branch, list) and below in branch)
        ):
            yield ast.unparse(around.test), place_of(facts.path, facts.text, span_of(around.test))
        below = around


def is_kept_when_built(facts: FileFacts, place: Place) -> bool:
    """Whether the expression at *place* is what an ``__init__`` keeps in an attribute, perhaps under a condition."""
    node, tree = expression_at(facts, place), parsed(facts.text)
    if not isinstance(node, ast.Name) or tree is None:
        return False
    below: ast.AST = node
    for around in ancestors(tree, node):
        if isinstance(around, ast.Assign):
            kept = around.value is below and all(isinstance(one, ast.Attribute) for one in around.targets)
            owner = next((one for one in ancestors(tree, around) if isinstance(one, _FUNCTIONS)), None)
            return kept and isinstance(owner, ast.FunctionDef) and _is_init(owner)
        in_condition = isinstance(around, ast.IfExp) and below is not around.test
        if not in_condition and not (isinstance(around, ast.BoolOp) and below is around.values[0]):
            return False
        below = around
    return False


def _is_init(function: ast.FunctionDef) -> bool:
    """An ``__init__``, or what a patch config puts in its place."""
    return function.name == "__init__" or any(
        isinstance(one, ast.Constant) and str(one.value).endswith(".__init__")
        for decorator in function.decorator_list
        for one in ast.walk(decorator)
    )


def ancestors(tree: ast.Module, node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes that *node* is in, the innermost first."""
    parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}

    def upwards() -> Iterator[ast.AST]:
        current = parents.get(id(node))
        while current is not None:
            yield current
            current = parents.get(id(current))

    return tuple(upwards())


def _stored(target: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
