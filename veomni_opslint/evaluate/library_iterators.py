"""``itertools``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import IteratorValue, ListValue
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.limits import MAX_ITEMS, NotPlain
from veomni_opslint.evaluate.natives import argument, each, steady
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments


def _bounded(items: Iterator[tuple[Value, ...]], *, unordered: bool = False) -> Value:
    found: list[Value] = list(itertools.islice(items, MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        raise NotPlain("is too large to follow")
    return IteratorValue(iter(found), unordered=unordered)


def _product(run: Operators, arguments: Arguments) -> Value:
    sources = [run.certain(value) for value in arguments.positional]
    repeat = run.plain(arguments.keywords.get("repeat", 1))
    unordered = any(run.unordered(value) for value in arguments.positional)
    return _bounded(itertools.product(*sources, repeat=min(int(repeat), 64)), unordered=unordered)


def _selections(choose: Callable[..., Iterator[tuple[Value, ...]]]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        items = run.ordered(argument(arguments, 0))
        sizes = [run.plain(value) for value in (*arguments.positional[1:], *arguments.keywords.values())]
        return _bounded(choose(items, *sizes))

    return apply


def _chain(run: Operators, arguments: Arguments) -> Value:
    unordered = any(run.unordered(value) for value in arguments.positional)
    return IteratorValue((item for source in arguments.positional for item in run.iterate(source)), unordered=unordered)


def _chain_from(run: Operators, arguments: Arguments) -> Value:
    sources = run.certain(argument(arguments, 0))
    unordered = run.unordered(arguments.positional[0]) or any(run.unordered(source) for source in sources)
    return IteratorValue((item for source in sources for item in run.iterate(source)), unordered=unordered)


def _on_steady(function: Callable[..., Iterator[Value]]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        source, *rest = arguments.positional
        return IteratorValue(function(steady(run, source), *(run.plain(value) for value in rest)))

    return apply


def _starmap(run: Operators, arguments: Arguments) -> Value:
    call = each(run, argument(arguments, 0), arguments)
    source = argument(arguments, 1)
    items = (run.on_item(item, lambda values: call(*run.ordered(values))) for item in run.iterate(source))
    return IteratorValue((item for item in items if item is not UNBOUND), unordered=run.unordered(source))


def _zip_longest(run: Operators, arguments: Arguments) -> Value:
    sources = [run.ordered(value) for value in arguments.positional]
    return IteratorValue(iter(itertools.zip_longest(*sources, fillvalue=arguments.keywords.get("fillvalue"))))


def _count(run: Operators, arguments: Arguments) -> Value:
    start, step = run.plain(arguments.get(0, "start", 0)), run.plain(arguments.get(1, "step", 1))
    return IteratorValue(_endless(run, itertools.count(start, step)))


def _cycle(run: Operators, arguments: Arguments) -> Value:
    return IteratorValue(_endless(run, itertools.cycle(run.ordered(argument(arguments, 0)))))


def _repeat(run: Operators, arguments: Arguments) -> Value:
    value, times = argument(arguments, 0, "object"), arguments.get(1, "times")
    endless = itertools.repeat(value) if times is UNBOUND else itertools.repeat(value, int(run.plain(times)))
    return IteratorValue(_endless(run, endless))


def _endless(run: Operators, items: Iterator[Value]) -> Iterator[Value]:
    for item in items:
        run.spend()
        yield item


def _groupby(run: Operators, arguments: Arguments) -> Value:
    key = arguments.get(1, "key", None)
    groups: list[tuple[Value, ListValue]] = []
    for item in run.ordered(argument(arguments, 0, "iterable")):
        name = item if key is None else each(run, key, arguments)(item)
        if groups and key_of(groups[-1][0]) == key_of(name):
            groups[-1][1].items.append(item)
        else:
            groups.append((name, ListValue([item])))
    return IteratorValue(iter(groups))


ITERATORS: dict[str, Handler] = {
    "itertools.product": _product,
    "itertools.permutations": _selections(itertools.permutations),
    "itertools.combinations": _selections(itertools.combinations),
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "itertools.islice": _on_steady(itertools.islice),
    "itertools.pairwise": _on_steady(itertools.pairwise),
    "itertools.starmap": _starmap,
    "itertools.zip_longest": _zip_longest,
    "itertools.count": _count,
    "itertools.cycle": _cycle,
    "itertools.repeat": _repeat,
    "itertools.groupby": _groupby,
}
