"""The same (op, variant, name) is registered twice, without force."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.extract.scope_state import catches
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.registrations import KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_ERRORS = frozenset({"ValueError", "Exception", "BaseException"})


def check(model: OpsModel) -> Iterator[Finding]:
    by_key: dict[tuple[str, str, str], list[KernelSpec]] = {}
    for spec in model.registrations.kernel_specs:
        by_key.setdefault((spec.op_name, spec.variant, spec.name), []).append(spec)
    for specs in by_key.values():
        reported: set[Place] = set()
        for index, second in enumerate(specs):
            first = next((one for one in specs[:index] if _collide(model, one, second)), None)
            if first is not None and second.caller not in reported:
                reported.add(second.caller)
                yield _finding(first, second)


def _collide(model: OpsModel, first: KernelSpec, second: KernelSpec) -> bool:
    if second.force is not False or _may_be_the_other_way_round(model, first, second):
        return False
    either_way = set(first.conditions) <= set(second.conditions) or set(second.conditions) <= set(first.conditions)
    return either_way and not _asks_first(model, second) and not _tolerated(model, second)


def _may_be_the_other_way_round(model: OpsModel, first: KernelSpec, second: KernelSpec) -> bool:
    """Which of two modules is loaded first, and whether both are, is certain only for what the ops package loads."""
    if first.module == second.module:
        return False
    loaded = model.loading.closure(model.ops_package)
    return first.force is not False or first.module not in loaded or second.module not in loaded


def _asks_first(model: OpsModel, spec: KernelSpec) -> bool:
    """Whether the registration stands under a condition on what the registry holds."""
    return any(model.dialect.registry in text or "list_available" in text for text in spec.conditions)


def _tolerated(model: OpsModel, spec: KernelSpec) -> bool:
    facts = model.files[spec.caller.path]
    pending: list[ast.stmt] = list(facts.tree.body) if facts.tree is not None else []
    while pending:
        node = pending.pop()
        inside = isinstance(node, ast.Try) and node.lineno <= spec.caller.line <= (node.body[-1].end_lineno or 0)
        if isinstance(node, ast.Try) and inside and any(catches(handler, _ERRORS) for handler in node.handlers):
            return True
        pending.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return False


def _finding(first: KernelSpec, second: KernelSpec) -> Finding:
    where = "again" if first.caller != second.caller else "more than once, by a loop or helper"
    return rule.finding(
        second.caller,
        f"`{second.name}` is registered {where} for `{second.op_name}`, variant `{second.variant}`: loading the ops "
        "package raises ValueError, whatever the model; give it another name, or replace the first with `force=True`",
        [Related(first.caller, "registered first here")],
    )
