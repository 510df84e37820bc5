"""What all definitions of one name take: most calls fit each of them, and need no look at which one they reach."""

from __future__ import annotations

import ast
from collections.abc import Callable

from veomni_opslint.model.call_binding import Arguments, Signature, binding_problem

_OBJECTS = ("self", "cls", "ctx")


class AcceptedArguments:
    """Definitions by their names, looked at when the first call of the name asks.

    ``constructor`` gives what a class takes that does not define it itself, None where that is not known: a call that
    reaches nothing known is no fault.
    """

    def __init__(self, constructor: Callable[[str, int], Signature | None]) -> None:
        self._constructor = constructor
        self._functions: dict[str, list[ast.arguments | None]] = {}
        self._classes: dict[str, list[tuple[str, int]]] = {}
        self._verdicts: dict[tuple[str, Arguments], bool] = {}

    def add(self, name: str, arguments: ast.arguments | None) -> None:
        """A function of that name; with None something of which more than its name has to be looked at."""
        self._functions.setdefault(name, []).append(arguments)

    def add_class(self, name: str, module: str, scope: int) -> None:
        """A class of that name."""
        self._classes.setdefault(name, []).append((module, scope))

    def __contains__(self, name: str) -> bool:
        return name in self._functions or name in self._classes

    @property
    def names(self) -> frozenset[str]:
        """All names that have a definition."""
        return frozenset((*self._functions, *self._classes))

    def certainly_fit(self, name: str, given: Arguments) -> bool:
        """Whether the arguments bind to every definition of the name."""
        key = (name, given)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._fit(name, given)
        return verdict

    def _fit(self, name: str, given: Arguments) -> bool:
        if not all(one is not None and _binds(one, given) for one in self._functions.get(name, ())):
            return False
        signatures = (self._constructor(*one) for one in self._classes.get(name, ()))
        return not any(one is not None and binding_problem(one, given) for one in signatures)


def _binds(arguments: ast.arguments, given: Arguments) -> bool:
    """Whether a call binds to a function, also as a method of an object, without a doubt."""
    plain = arguments.args
    places = len(arguments.posonlyargs) + len(plain)
    first = arguments.posonlyargs or plain
    total = given.positional + (1 if first and first[0].arg in _OBJECTS else 0)
    if total > places and arguments.vararg is None:
        return False
    keywords = given.keywords
    if not keywords:
        return total + len(arguments.defaults) >= places and None not in arguments.kw_defaults
    names = [one.arg for one in plain]
    by_name = [one.arg for one in arguments.kwonlyargs]
    only = len(arguments.posonlyargs)
    given_by_place = max(total - only, 0)
    needed = places - len(arguments.defaults)
    if total < min(only, needed) or any(name in names[:given_by_place] for name in keywords):
        return False
    left = names[given_by_place:]
    if arguments.kwarg is None and not all(name in left or name in by_name for name in keywords):
        return False
    required = names[given_by_place : max(needed - only, 0)]
    required += [name for name, value in zip(by_name, arguments.kw_defaults, strict=True) if value is None]
    return all(name in keywords for name in required)
