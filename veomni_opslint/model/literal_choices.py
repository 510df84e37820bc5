"""Where a Literal choice of a config field is written."""

from __future__ import annotations

import ast

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.ops_config import ConfigField, class_node
from veomni_opslint.places import place_of


def choice_place(facts: FileFacts, dialect: Dialect, field: ConfigField, choice: str) -> Place:
    """The string in the annotation of *field*, or the field where the choice is not written there itself."""
    config = class_node(facts, dialect.ops_config)
    for statement in config.body if config is not None else ():
        if isinstance(statement, ast.AnnAssign) and _name(statement.target) == field.name:
            for node in ast.walk(statement.annotation):
                if isinstance(node, ast.Constant) and node.value == choice:
                    return place_of(facts.path, facts.text, span_of(node))
    return field.place


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
