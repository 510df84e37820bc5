"""YAML files as data with positions: what the parser of a job would read, and where each part of it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from veomni_opslint.findings import Place

if TYPE_CHECKING:
    import yaml

NodeKind: TypeAlias = Literal["mapping", "sequence", "string", "other"]
_STRING = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_VALUE_ERRORS = (ValueError, RecursionError)


@dataclass(frozen=True, slots=True, eq=False)
class YamlEntry:
    """A key of a mapping and its value; of keys that are given twice the last counts, as for the parser."""

    key: str
    place: Place
    value: YamlNode


@dataclass(frozen=True, slots=True, eq=False)
class YamlNode:
    """A value: a mapping with its entries (merged ones included), a sequence with its items, or a scalar."""

    kind: NodeKind
    place: Place
    text: str = ""
    entries: tuple[YamlEntry, ...] = ()
    items: tuple[YamlNode, ...] = ()

    def entry(self, key: str) -> YamlEntry | None:
        """The entry of a key."""
        return next((one for one in self.entries if one.key == key), None)


class YamlFile(NamedTuple):
    """A YAML file: its value (None for an empty one), or why it cannot be read, and where."""

    path: str
    root: YamlNode | None = None
    problem: str = ""
    place: Place | None = None


def read_yaml(path: str, data: bytes) -> YamlFile:
    """The content of the file called *path*; a fault in it is its ``problem``."""
    import yaml  # noqa: PLC0415 - slow to import, and most runs read no YAML

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return YamlFile(path, problem=f"is not UTF-8 (byte {error.start})", place=Place(path, 1))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, Loader=loader)
        return YamlFile(path, _Reading(path, {}).node(node) if node is not None else None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark is not None else Place(path, 1)
        return YamlFile(path, problem=f"is no valid YAML: {_reason(error)}", place=place)
    except (yaml.YAMLError, *_VALUE_ERRORS) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
        return YamlFile(path, problem=f"is no valid YAML: {reason}", place=Place(path, 1))


def _reason(error: yaml.MarkedYAMLError) -> str:
    if error.context == "expected a single document in the stream":
        return "it holds more than one document, and a job reads one"
    return (error.problem or error.context or "it cannot be parsed").partition("\n")[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Reading:
    """Turns the parser's nodes into ours; an anchored node becomes one node however often it is used."""

    path: str
    done: dict[int, YamlNode | None]

    def node(self, node: yaml.Node) -> YamlNode:
        known = self.done.get(id(node))
        if known is not None:
            return known
        if id(node) in self.done:
            return YamlNode("other", self._place(node), "an anchor within itself")
        self.done[id(node)] = None
        made = self.done[id(node)] = self._made(node)
        return made

    def _made(self, node: yaml.Node) -> YamlNode:
        import yaml  # noqa: PLC0415 - as in read_yaml

        place = self._place(node)
        if isinstance(node, yaml.MappingNode):
            return YamlNode("mapping", place, entries=tuple(self._entries(node)))
        if isinstance(node, yaml.SequenceNode):
            return YamlNode("sequence", place, items=tuple(map(self.node, node.value)))
        return YamlNode("string" if node.tag == _STRING else "other", place, str(node.value))

    def _entries(self, mapping: yaml.Node) -> Iterator[YamlEntry]:
        found: dict[str, YamlEntry] = {}
        merged: dict[str, YamlEntry] = {}
        for key, value in mapping.value:
            if key.tag == _MERGE:
                for source in value.value if value.id == "sequence" else [value]:
                    for entry in self.node(source).entries:
                        merged.setdefault(entry.key, entry)
            elif key.id == "scalar":
                found[key.value] = YamlEntry(key.value, self._place(key), self.node(value))
        yield from found.values()
        yield from (entry for key, entry in merged.items() if key not in found)

    def _place(self, node: yaml.Node) -> Place:
        start, end = node.start_mark, node.end_mark
        return Place(self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
