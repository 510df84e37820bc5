"""Questions about single values: what a module-level name holds, and what a call would give."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.interpreter import Interpreter
from veomni_opslint.evaluate.limits import RECURSION_LIMIT, GivenUp, NotPlain, Raised, TooDeep
from veomni_opslint.evaluate.values import Arguments
from veomni_opslint.facts import FileFacts

TRIAL_STEPS = 5_000

T = TypeVar("T")


class Trials:
    """Runs modules of a project on demand, and calls their functions; nothing that they register is recorded."""

    def __init__(self, modules: Mapping[str, FileFacts], packages: frozenset[str], dialect: Dialect) -> None:
        self._run = Interpreter(modules, packages, dialect)
        self._run.dry = 1

    def value_of(self, module: str, name: str) -> Value:
        """The value that a module-level name holds once the module is loaded; UNBOUND where it has none."""

        def look_up() -> Value:
            found = self._run.load(module)
            if found is None or (name not in found.frame.names.attrs and not found.lost):
                return UNBOUND
            return self._run.module_attribute(module, name)

        try:
            return self._try(look_up)
        except Raised as problem:
            return unknown(problem.reason)

    def result_of(self, module: str, function: Value, given: Sequence[Value], named: Mapping[str, Value]) -> Value:
        """What calling *function*, from *module*, returns; an Opaque value where that cannot be known.

        Raises:
            Raised: the call certainly raises.
        """
        found = self._run.load(module)
        if found is None or found.facts.tree is None:
            return unknown("comes from a module that cannot be read")
        tree, frame = found.facts.tree, found.frame
        self._run.running.append(found)
        self._run.statements.append(tree)
        self._run.steps = TRIAL_STEPS
        try:
            return self._try(lambda: self._run.call(function, Arguments(tuple(given), dict(named), tree, frame)))
        finally:
            self._run.running.pop()
            self._run.statements.pop()

    def _try(self, ask: Callable[[], Value]) -> Value:
        run = self._run
        run.path, run.pending, run.base, run.catching, run.nesting, run.calls = [], [], 0, [], 0, 0
        try:
            with _deep_recursion():
                return run.prune(ask())
        except (GivenUp, TooDeep, NotPlain) as problem:
            return unknown(problem.reason)
        except (RecursionError, MemoryError):
            return unknown("is nested too deeply to follow")
        except Raised:
            raise
        except Exception as problem:  # noqa: BLE001
            # As in a run over the whole project: a fault of the evaluator must not end the check.
            return unknown(f"makes the evaluator fail ({type(problem).__name__})")
        finally:
            run.path = []


@contextmanager
def _deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


__all__ = ["Raised", "Trials"]
