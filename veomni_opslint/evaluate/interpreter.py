"""The whole evaluator, and the entry point: from facts of modules to registrations."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate.cells import unknown
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import RECURSION_LIMIT
from veomni_opslint.evaluate.op_recorder import OpRecorder
from veomni_opslint.evaluate.roots import eager_packages, find_roots, names_any
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Registrations, Unresolved


class Interpreter(OpRecorder):
    """Runs the module-level code of a project and records what it registers."""

    def give_up(self, statement: ast.stmt, frame: Frame, reason: str) -> None:
        words = self.words.get(frame.module.name)
        if words is not None and names_any([statement], words, self.dialect):
            self.report_unresolved(statement, frame, reason)
        for name in _bound_names(statement):
            self.assign_name(name, unknown(reason), frame)


def evaluate(
    modules: Mapping[str, FileFacts],
    packages: frozenset[str],
    dialect: Dialect,
    roots: Iterable[str] | None = None,
) -> Registrations:
    """Learn what the module-level code of a project registers, without importing anything.

    ``modules`` maps dotted names to facts; ``packages`` are those that are packages. Only *roots* are run, and what
    they need; by default the modules whose code names the registry or something that registers. Never raises.
    """
    found = find_roots(modules, packages, dialect)
    chosen = found.names if roots is None else [name for name in roots if name in modules]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        run = Interpreter(modules, packages, dialect)
        run.words = found.words
        run.eager = eager_packages(chosen, modules)
        for name in chosen:
            try:
                run.import_module(name)
                run.load(name)
            except Exception as problem:  # noqa: BLE001
                # A fault of the evaluator itself must show in the report of the project, not end it.
                reason = f"the evaluator fails on this module ({type(problem).__name__})"
                run.unresolved.append(Unresolved(Place(modules[name].path, 1), reason))
    finally:
        sys.setrecursionlimit(limit)
    run.unresolved.extend(_unread(modules, dialect))
    return _in_order(run, modules)


def _unread(modules: Mapping[str, FileFacts], dialect: Dialect) -> Iterator[Unresolved]:
    """What files that cannot be parsed may register, as far as their text tells."""
    for facts in modules.values():
        if facts.problem is not None:
            place = Place(facts.path, facts.problem.line, facts.problem.column + 1)
            reason = f"the file cannot be parsed: {facts.problem.message}"
            if dialect.registry in facts.text or f"{dialect.kernel_spec}(" in facts.text:
                yield Unresolved(place, reason)
            if f"{dialect.register_op}(" in facts.text or f"{dialect.op_spec}(" in facts.text:
                yield Unresolved(place, reason, of_op=True)


def _in_order(run: Interpreter, modules: Mapping[str, FileFacts]) -> Registrations:
    path_of = {name: facts.path for name, facts in modules.items()}
    return Registrations(
        tuple(sorted(run.kernel_specs, key=lambda spec: path_of[spec.module])),
        tuple(sorted(run.op_specs, key=lambda spec: path_of[spec.module])),
        tuple(sorted(run.unresolved, key=lambda item: (item.place, item.reason))),
        run.evaluated(),
    )


def _bound_names(statement: ast.stmt) -> list[str]:
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
    return names
