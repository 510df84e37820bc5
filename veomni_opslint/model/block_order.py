"""The blocks that a patch config puts into its generated module, in order, with those taken over from other configs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.model.ops_model import OpsModel

_MAX_CONFIGS = 10


class PlacedBlock(NamedTuple):
    """One block, and the path of the config file that writes it."""

    path: str
    facts: FileFacts


def block_sequences(model: OpsModel, module: str) -> tuple[tuple[PlacedBlock, ...], ...]:
    """For each generated module that the patch configs in *module* make: its blocks.

    A block that is added under a condition is a sequence of its own, because it may take the place of another.
    """
    facts = model.module(module)
    names = {block.callee.partition(".")[0] for block in facts.embedded} | set(_configs_that_take_over(model, facts))
    sequences = [tuple(_blocks_of(model, module, name, 0)) for name in sorted(names)]
    top = set(_top_level(facts))
    conditional = [
        (PlacedBlock(facts.path, block.facts),)
        for block in facts.embedded
        if block.facts is not None and block.call not in top
    ]
    return (*sequences, *conditional)


def _blocks_of(model: OpsModel, module: str, config: str, depth: int) -> Iterator[PlacedBlock]:
    facts = model.module(module)
    top = set(_top_level(facts))
    steps: list[tuple[Span, FileFacts | tuple[str, str]]] = [
        (block.call, block.facts)
        for block in facts.embedded
        if block.facts is not None and block.call in top and block.callee.partition(".")[0] == config
    ]
    steps.extend(_taken_over(model, module, config))
    for _, step in sorted(steps, key=lambda one: one[0]):
        if isinstance(step, FileFacts):
            yield PlacedBlock(facts.path, step)
        elif depth < _MAX_CONFIGS:
            yield from _blocks_of(model, *step, depth + 1)


def _top_level(facts: FileFacts) -> Iterator[Span]:
    for statement in facts.tree.body if facts.tree is not None else ():
        if isinstance(statement, ast.Expr):
            yield span_of(statement.value)


def _taken_over(model: OpsModel, module: str, config: str) -> Iterator[tuple[Span, tuple[str, str]]]:
    """Top-level statements such as ``config.post_import_blocks.extend(other.post_import_blocks)``."""
    for span, owners in _with_blocks(model, model.module(module)):
        for owner in owners[1:] if owners[0] == config else ():
            for target in model.symbols.resolve(module, 0, owner) if owner != config else ():
                if target.kind == "value" and not target.rest and (target.module, target.name) != (module, config):
                    yield span, (target.module, target.name)


def _configs_that_take_over(model: OpsModel, facts: FileFacts) -> Iterator[str]:
    yield from (owners[0] for _, owners in _with_blocks(model, facts))


def _with_blocks(model: OpsModel, facts: FileFacts) -> Iterator[tuple[Span, list[str]]]:
    """Top-level statements about the blocks of several configs, the one that is changed first."""
    suffix = f".{model.dialect.post_import_blocks}"
    for statement in facts.tree.body if facts.tree is not None and suffix in facts.text else ():
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign):
            nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Attribute)]
            nodes.sort(key=lambda node: (node.lineno, node.col_offset))
            owners = [dotted(node).removesuffix(suffix) for node in nodes if dotted(node).endswith(suffix)]
            if len(owners) > 1:
                yield span_of(statement), owners
