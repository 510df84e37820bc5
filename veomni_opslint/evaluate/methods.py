"""The methods of built-in values. The first argument of each is its receiver."""

from __future__ import annotations

from veomni_opslint.evaluate.cells import Value
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.limits import TOO_MANY, NotPlain, Raised
from veomni_opslint.evaluate.list_methods import LIST_METHODS, on_list
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.table_methods import DICT_METHODS, SET_METHODS
from veomni_opslint.evaluate.text_methods import TEXT_METHODS
from veomni_opslint.evaluate.values import Arguments, Maybe

MUTATORS = frozenset((
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem",
    "add", "discard", "difference_update", "intersection_update", "symmetric_difference_update", "appendleft",
    "__setitem__", "__delitem__",
))  # fmt: skip


def _next(run: Operators, arguments: Arguments) -> Value:
    for item in run.iterate(arguments.positional[0]):
        if isinstance(item, Maybe):
            raise NotPlain(TOO_MANY)
        return item
    raise Raised("StopIteration")


METHODS: dict[type, dict[str, Handler]] = {
    ListValue: LIST_METHODS,
    DictValue: DICT_METHODS,
    SetValue: SET_METHODS,
    IteratorValue: {"__next__": _next},
    tuple: {"index": on_list("index"), "count": on_list("count")},
    **TEXT_METHODS,
}
