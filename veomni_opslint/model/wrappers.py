"""The wrappers of async Ulysses: the tables that say which there are, and the builders that make them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.cells import unknown as unknown_value
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.trials import Trials
from veomni_opslint.evaluate.values import string_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.builder_mentions import Mentions
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.table_places import Key, TablePlaces
from veomni_opslint.model.wrapper_builders import Builder, BuilderTable, Result, strings_in
from veomni_opslint.model.wrapper_callers import Request, requests

_CHANGE = r"(?:\[[^\]\n]+\]\s*\|?=[^=]|\.(?:update|setdefault|add|pop|clear)\()"


class Element(NamedTuple):
    """One string of an entry, and where it is written."""

    value: str
    place: Place


class Entry(NamedTuple):
    """One entry of a table: of an op, or of one variant of it. ``elements`` is None where they are not known."""

    op: str
    variant: str | None
    place: Place
    elements: tuple[Element, ...] | None


class Table(NamedTuple):
    """One of the tables, by its name in the dialect."""

    name: str
    place: Place
    entries: tuple[Entry, ...]

    def of(self, op: str) -> tuple[Entry, ...]:
        """The entries of an op."""
        return tuple(entry for entry in self.entries if entry.op == op)

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that have an entry, in order."""
        return tuple(dict.fromkeys(entry.op for entry in self.entries))


class Wrappers(NamedTuple):
    """What the wrapper module says. A table is None where the module has none, or none that is known.

    ``unknown`` are the names of tables that are there but not known.
    """

    module: str
    path: str
    implementations: Table | None
    variants: Table | None
    default_variants: Table | None
    config_fields: Table | None
    builders: tuple[Builder, ...] | None
    builders_place: Place
    results: tuple[Result, ...]
    requests: tuple[Request, ...]
    unknown: tuple[str, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are there."""
        four = (self.implementations, self.variants, self.default_variants, self.config_fields)
        return tuple(table for table in four if table is not None)

    def builders_of(self, op: str) -> tuple[Builder, ...]:
        """The builders of an op."""
        return tuple(builder for builder in self.builders or () if builder.op == op)

    def declared_implementations(self, op: str, variant: str | None = None) -> tuple[Element, ...] | None:
        """The implementations that the tables declare for an op (and variant); None when not known."""
        return self._elements(self.implementations, op, variant)

    @property
    def keyed_by_variant(self) -> bool:
        """Whether the table of implementations has an entry for each variant of an op."""
        return self.implementations is not None and any(entry.variant for entry in self.implementations.entries)

    def declared_variants(self, op: str) -> tuple[Element, ...] | None:
        """The variants that the tables declare for an op; None when not known."""
        if self.variants is not None:
            return self._elements(self.variants, op, None)
        entries = self.implementations.of(op) if self.implementations is not None else ()
        found = tuple(Element(entry.variant, entry.place) for entry in entries if entry.variant is not None)
        return found or None

    def result(self, op: str, variant: str, implementation: str) -> Result | None:
        """What the builder gives; None where that was not tried."""
        wanted = (op, variant, implementation)
        return next((one for one in self.results if (one.op, one.variant, one.implementation) == wanted), None)

    def _elements(self, table: Table | None, op: str, variant: str | None) -> tuple[Element, ...] | None:
        if table is None:
            return None
        entries = [one for one in table.of(op) if variant is None or one.variant in (None, variant)]
        if not entries or any(one.elements is None for one in entries):
            return None
        by_value = {element.value: element for entry in reversed(entries) for element in entry.elements or ()}
        return tuple(sorted(by_value.values(), key=lambda element: element.place))


def find_wrappers(
    symbols: Symbols, dialect: Dialect, module: str, trials: Trials, known_names: Mapping[str, frozenset[str]]
) -> Wrappers:
    """The wrappers that a module declares.

    ``known_names`` are implementations and variants that the registry has, by role: they tell which is which in a
    table of builders that is keyed by either.
    """
    return _Finder(symbols, dialect, trials, module, known_names).find()


class _Finder(NamedTuple):
    symbols: Symbols
    dialect: Dialect
    trials: Trials
    module: str
    known_names: Mapping[str, frozenset[str]]

    def find(self) -> Wrappers:
        dialect, facts = self.dialect, self.symbols.modules[self.module]
        names = (
            dialect.supported_implementations, dialect.supported_variants, dialect.default_variants,
            dialect.config_fields, dialect.builders,
        )  # fmt: skip
        values = {name: self.trials.value_of(self.module, name) for name in names}
        elsewhere = unknown_value("is filled by other modules")
        values |= {name: elsewhere for name in names if self._is_filled_elsewhere(name, values[name])}
        tables = {name: self._table(name, value) for name, value in values.items()}
        unknown = tuple(name for name in names if values[name] is not UNBOUND and tables[name] is None)
        home, builders_facts = self._home(dialect.builders)
        places = TablePlaces(builders_facts)
        implementations, variants, defaults, fields = (tables[name] for name in names[:4])
        found = Wrappers(
            module=self.module,
            path=facts.path,
            implementations=implementations,
            variants=variants,
            default_variants=defaults,
            config_fields=fields,
            builders=None,
            builders_place=places.table(names[4]),
            results=(),
            requests=tuple(requests(self.symbols, self.module, dialect.get_wrapper, self._constant)),
            unknown=unknown,
        )
        reader = BuilderTable(
            dialect.builders, home, places, self.trials, Mentions(self.symbols, self._strings_of),
            self._names(found), lambda op, role: _named(found, op, role),
        )  # fmt: skip
        builders, results = reader.read(values[dialect.builders])
        return found._replace(builders=builders, results=results)

    def _is_filled_elsewhere(self, name: str, value: Value) -> bool:
        """Whether code that does not run when the wrapper module is loaded may fill the table."""
        home, facts = self._home(name)
        change = re.compile(rf"\b{re.escape(name)}\s*{_CHANGE}")
        lines = facts.lines
        writers = [
            scope.name
            for scope in facts.scopes
            if scope.kind == "function"
            and scope.parent == 0
            and change.search("\n".join(lines[scope.span[0] - 1 : scope.span[2]]))
        ]
        if writers and isinstance(value, DictValue) and not len(value):
            return True
        used = re.compile(rf"\b(?:{'|'.join(writers)})\b") if writers else change
        stem = home.rpartition(".")[2]
        return any(
            stem in other.text and (change.search(other.text) or used.search(other.text))
            for module, other in self.symbols.modules.items()
            # Tests may fill a table of their own, or speak of it in a string.
            if module != home and module.partition(".")[0] == home.partition(".")[0]
        )

    def _home(self, name: str) -> tuple[str, FileFacts]:
        """The module whose code gives a table its value: this one, or the one it is imported from."""
        for target in self.symbols.attribute(self.module, name):
            if target.kind == "value" and not target.rest:
                return target.module, self.symbols.modules[target.module]
        return self.module, self.symbols.modules[self.module]

    def _table(self, name: str, value: Value) -> Table | None:
        if not isinstance(value, DictValue) or value.lost:
            return None
        places = TablePlaces(self._home(name)[1])
        entries = []
        for _, key, item in value.elements():
            parts = _key_parts(key)
            if parts is None:
                return None
            written: Key = key if isinstance(key, str) else parts
            texts = strings_in(item)
            elements = None if texts is None else tuple(
                Element(text, places.element(name, written, text)) for text in texts)  # fmt: skip
            entries.append(Entry(parts[0], parts[1] if len(parts) > 1 else None, places.key(name, written), elements))
        return Table(name, places.table(name), tuple(entries))

    def _names(self, found: Wrappers) -> dict[str, frozenset[str]]:
        """All implementations and variants that are known by name, by role."""
        ops = {op for table in found.tables for op in table.ops}
        return {
            role: frozenset(known).union(*(_named(found, op, role) for op in ops))
            for role, known in self.known_names.items()
        }

    def _constant(self, module: str, name: str) -> tuple[str, ...]:
        value = self.trials.value_of(module, name)
        return _key_parts(value) or ()

    def _strings_of(self, module: str, name: str) -> tuple[str | tuple[str, ...], ...]:
        value = self.trials.value_of(module, name)
        text = string_of(value)
        if text is not None:
            return (text,)
        if isinstance(value, DictValue) and not value.lost:
            keys = [_key_parts(key) for _, key, _ in value.elements()]
            return tuple(parts[0] if len(parts) == 1 else parts for parts in keys if parts is not None)
        return strings_in(value) or ()


def _key_parts(key: Value) -> tuple[str, ...] | None:
    """The parts of a key: an op, or an op and its variant, each of them a string."""
    parts = [string_of(one) for one in (key if isinstance(key, tuple) else (key,))]
    known = tuple(part for part in parts if part is not None)
    return known if known and len(known) == len(parts) else None


def _named(found: Wrappers, op: str, role: str) -> list[str]:
    """The names in a role that the tables declare for an op, and for a variant those that callers ask for."""
    elements = found.declared_variants(op) if role == "variant" else found.declared_implementations(op)
    names = [element.value for element in elements or ()]
    if role == "variant":
        defaults = found.default_variants.of(op) if found.default_variants is not None else ()
        names += [one.value for entry in defaults for one in entry.elements or ()]
        names += [one.variant for one in found.requests if one.op == op and one.variant is not None]
    return names
