"""Whether the arguments of a call bind to the parameters of a function, as ``inspect.Signature.bind`` decides it."""

from __future__ import annotations

from typing import NamedTuple

from veomni_opslint.parameters import Parameter

_POSITIONAL = ("positional", "normal")


class Arguments(NamedTuple):
    """What a call gives: how many positional arguments, which keywords, and whether ``*x`` or ``**x`` adds some."""

    positional: int
    star: bool
    keywords: tuple[str, ...]
    double_star: bool


class Signature(NamedTuple):
    """Parameters, of which a partial or a bound method has filled the first ``bound`` and those of ``bound_names``."""

    parameters: tuple[Parameter, ...]
    bound: int = 0
    bound_names: tuple[str, ...] = ()

    def given(self, positional: int, names: tuple[str, ...] = ()) -> Signature:
        """The signature that is left when a partial, or the object of a method, gives some of the arguments."""
        return Signature(self.parameters, self.bound + positional, (*self.bound_names, *names))


def binding_problem(signature: Signature, given: Arguments) -> str:
    """Why a call cannot bind, as it would follow a function's name; empty where it binds, or may."""
    places = [one for one in signature.parameters if one.kind in _POSITIONAL]
    total = signature.bound + given.positional
    if total > len(places) and not any(one.kind == "var" for one in signature.parameters):
        return _too_many(signature, len(places), given.positional)
    filled = {one.name for one in places[:total] if one.kind == "normal"}
    named = {one.name for one in signature.parameters if one.kind in ("normal", "keyword")}
    takes_any = any(one.kind == "kwvar" for one in signature.parameters)
    for name in (*given.keywords, *signature.bound_names):
        if name not in named and not takes_any:
            return f"has no parameter `{name}`"
        if name in filled:
            by_partial = "" if name in given.keywords else " from a partial"
            return f"gets `{name}` twice, by position and by name{by_partial}"
    return "" if given.double_star else _missing(signature, given, places[total:])


def _too_many(signature: Signature, places: int, given: int) -> str:
    taken = places - signature.bound
    if taken < 0:
        taken, given = places, signature.bound + given
    return f"takes {taken or 'no'} positional argument{'' if taken == 1 else 's'} and gets {given}"


def _missing(signature: Signature, given: Arguments, places: list[Parameter]) -> str:
    present = {*given.keywords, *signature.bound_names}
    left = [] if given.star else [one for one in places if one.kind != "positional" or not one.has_default]
    left += [one for one in signature.parameters if one.kind == "keyword"]
    needed = [one.name for one in left if not one.has_default and (one.kind == "positional" or one.name not in present)]
    return "needs " + ", ".join(f"`{name}`" for name in needed) if needed else ""
