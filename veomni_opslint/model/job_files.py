"""The YAML files of the repository that configure jobs, told by their keys from workflows and other configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.model.argument_classes import ArgumentClass, ArgumentClasses, ClassKey
from veomni_opslint.yaml_documents import YamlFile, YamlNode, read_yaml

_TOP_LEVEL_KEY = re.compile(rb"^([A-Za-z_]\w*)[ \t]*:", re.MULTILINE)
_MINIMUM = 2


class JobFile(NamedTuple):
    """A file that fills the arguments of a job. ``roots`` are the classes that it may be read into.

    ``anchors``: lines on which it names a part of itself for later use. A file that cannot be read has no ``roots``.
    """

    yaml: YamlFile
    roots: tuple[ArgumentClass, ...]
    anchors: frozenset[int]

    def section(self, keys: tuple[str, ...]) -> YamlNode | None:
        """The mapping at a place of the file."""
        node = self.yaml.root
        for key in keys:
            entry = node.entry(key) if node is not None else None
            node = entry.value if entry is not None else None
        return node if node is not None and node.kind == "mapping" else None


def find_job_files(classes: ArgumentClasses, sources: Mapping[str, bytes]) -> Iterator[JobFile]:
    """Those of the YAML *sources* that give at least two sections of the arguments of some job, by path."""
    roots = tuple(_roots(classes)) if sources else ()
    names = {name for root in roots for name in root.fields}
    for path in sorted(sources):
        data = sources[path]
        written = {key.decode() for key in _TOP_LEVEL_KEY.findall(data)}
        if len(written & names) < _MINIMUM:
            continue
        found = read_yaml(path, data)
        fitting = tuple(root for root in roots if _sections(found, root, written) >= _MINIMUM)
        if fitting:
            yield JobFile(found, fitting if found.root is not None else (), _anchor_lines(data))


def _roots(classes: ArgumentClasses) -> Iterator[ArgumentClass]:
    """Classes that hold others, and that no other one holds."""
    known = tuple(classes.all())
    held = {field.holds for one in known for field in one.fields.values() if field.holds is not None}
    for one in known:
        if one.key not in held and len(_held(one)) >= _MINIMUM:
            yield one


def _held(one: ArgumentClass) -> dict[str, ClassKey]:
    return {field.name: field.holds for field in one.fields.values() if field.holds is not None}


def _sections(found: YamlFile, root: ArgumentClass, written: set[str]) -> int:
    """How many sections of *root* the file has; of a file that cannot be read, what its lines begin with."""
    if found.problem:
        return len(written & set(_held(root)))
    entries = found.root.entries if found.root is not None else ()
    return sum(entry.key in _held(root) and entry.value.kind == "mapping" for entry in entries)


def _anchor_lines(data: bytes) -> frozenset[int]:
    lines = data.split(b"\n") if b"&" in data else []
    return frozenset(number for number, line in enumerate(lines, 1) if re.search(rb":[ \t]+&\w", line))
