"""What importing a package imports: each module with who imported it, from where, and what that took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from .watch import Message, resident_memory

_MACHINERY = ("<frozen importlib", "<frozen zipimport")


@dataclass
class Loaded:
    """One module as it was imported first; its seconds and bytes without those of the modules that it imported."""

    name: str
    importer: str
    file: str
    line: int
    seconds: float = 0.0
    memory: int = 0


@dataclass
class Recording:
    """The modules in the order in which their import began."""

    modules: dict[str, Loaded] = field(default_factory=dict)

    def chain(self, name: str) -> list[Message]:
        """The imports that led to *name*, the first one first."""
        links: list[Message] = []
        while name in self.modules and len(links) < len(self.modules):
            one = self.modules[name]
            links.append({"module": name, "importer": one.importer, "file": one.file, "line": one.line})
            name = one.importer
        return links[::-1]


@contextmanager
def recorded() -> Iterator[Recording]:
    """Record every import that happens inside."""
    recording = Recording()
    # The interpreter looks this function up for each module that is not loaded yet, whether it comes from an import
    # statement or from importlib. A finder would see the beginning of an import and not its end.
    machinery: Any = sys.modules["_frozen_importlib"]
    original = machinery._find_and_load
    inner: list[list[float]] = [[0.0, 0.0]]

    def find_and_load(name: str, import_: object) -> object:
        if name in sys.modules or name in recording.modules:
            return original(name, import_)
        importer, file, line = importing_frame(sys._getframe(1))
        loaded = recording.modules[name] = Loaded(name, importer, file, line)
        inner.append([0.0, 0.0])
        started, memory = time.perf_counter(), resident_memory()
        try:
            return original(name, import_)
        finally:
            seconds, growth = time.perf_counter() - started, float(resident_memory() - memory)
            below = inner.pop()
            loaded.seconds, loaded.memory = seconds - below[0], int(growth - below[1])
            inner[-1][0] += seconds
            inner[-1][1] += growth

    machinery._find_and_load = find_and_load
    try:
        yield recording
    finally:
        machinery._find_and_load = original


def costs(recording: Recording) -> list[Message]:
    """Seconds and bytes for each package, the dearest first."""
    totals: dict[str, list[float]] = {}
    for one in recording.modules.values():
        if one.name in sys.modules:
            total = totals.setdefault(one.name.partition(".")[0], [0.0, 0.0, 0.0])
            total[0] += one.seconds
            total[1] += one.memory
            total[2] += 1
    found = [
        {"package": name, "seconds": round(seconds, 4), "memory": int(memory), "modules": int(modules)}
        for name, (seconds, memory, modules) in totals.items()
    ]
    return sorted(found, key=lambda one: (-float(str(one["seconds"])), str(one["package"])))


def loaded_optional(recording: Recording, optional: list[str]) -> list[Message]:
    """The optional packages that were loaded, each with the imports that led to it."""
    return [
        {"package": name, "chain": recording.chain(name)}
        for name in optional
        if name in sys.modules and name in recording.modules
    ]


def importing_frame(frame: FrameType | None, skip: str = __file__) -> tuple[str, str, int]:
    """The module, file and line that an import, or a question to importlib, comes from."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_MACHINERY) and file not in (skip, __file__) and "importlib" not in file.split("/"):
            return str(frame.f_globals.get("__name__", "")), file, frame.f_lineno
        frame = frame.f_back
    return "", "", 0
