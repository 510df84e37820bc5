"""The ranks of a job that torch's launcher started: which one this is, and what all of them saw."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from veomni_opslint.errors import RunError
from veomni_opslint.runtime.child.watch import Ending, Limits, watch
from veomni_opslint.runtime.document import Document
from veomni_opslint.runtime.launch import interpreter, start

_PATIENCE = 2 * 3600.0
_NO_LIMIT = 1 << 62
_MACHINE = ("device", "devices", "compute_capability", "driver", "cuda", "cann", "python", "platform", "problem")


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of a job."""

    number: int
    world_size: int
    local: int


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks that saw the same; ``differs`` says in what from the largest group."""

    ranks: tuple[int, ...]
    document: Document
    differs: tuple[str, ...]

    @property
    def title(self) -> str:
        """The ranks, with ranges shortened."""
        return ("rank " if len(self.ranks) == 1 else "ranks ") + ", ".join(_ranges(self.ranks))


def this_rank(environment: Mapping[str, str] = os.environ) -> Rank | None:
    """The rank that the launcher gave this process; None where it started alone."""
    try:
        rank = Rank(*(int(environment[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))
    except (KeyError, ValueError):
        return None
    return rank if "MASTER_ADDR" in environment else None


def gather(document: Document, python: str, launcher: int) -> list[Document] | None:
    """The documents of all ranks in their order on rank 0, None on the others.

    The others are waited for as long as this process is a child of *launcher*: where that is gone, they do not come.

    Raises:
        RunError: they could not be gathered.
    """
    documents: list[Document] | None = None
    limits = Limits(_PATIENCE, _PATIENCE, _NO_LIMIT, launcher)
    for process, event in watch([lambda: start("gather", interpreter(python), "gather", document, {})], 1, limits):
        if isinstance(event, Ending):
            if event.kind == "orphan":
                raise RunError("the ranks could not be gathered: the launcher of the job is gone")
            if event.kind != "done":
                last = process.output.strip().rpartition("\n")[2]
                raise RunError(f"the ranks could not be gathered: the process ended with {event.detail}: {last}")
        elif event.get("event") == "gathered":
            documents = event["documents"]
        else:
            error = event["error"]
            raise RunError(f"the ranks could not be gathered: {error['type']}: {error['message']}")
    return documents


def grouped(documents: Sequence[Document]) -> tuple[Group, ...]:
    """The ranks in groups that saw the same, the largest group first; of equal ones that with the lowest rank."""
    facts = [dict(_facts(document)) for document in documents]
    members: list[list[int]] = []
    for rank, known in enumerate(facts):
        same = next((group for group in members if facts[group[0]] == known), None)
        if same is None:
            members.append([rank])
        else:
            same.append(rank)
    members.sort(key=lambda group: (-len(group), group[0]))
    usual = facts[members[0][0]]
    return tuple(
        Group(tuple(group), documents[group[0]], tuple(_differences(usual, facts[group[0]]))) for group in members
    )


def _facts(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What must be equal on all ranks, by name."""
    if "failed" in document:
        yield "run", document["failed"]
        return
    yield "run", "made"
    environment = document["environment"]
    if isinstance(environment, Mapping):
        yield from ((name, environment[name]) for name in _MACHINE)
        packages = environment["packages"]
        yield from packages.items() if isinstance(packages, Mapping) else ()
    imported = document["import"]
    if isinstance(imported, Mapping):
        yield "import", imported["reason"] or imported["status"]
    kernels, findings = document["kernels"], document["findings"]
    for kernel in kernels if isinstance(kernels, list) else ():
        call = kernel["call"]
        outcome = (
            kernel["status"] if call is None else f"{kernel['status']}, call {'passed' if call['passed'] else 'failed'}"
        )
        yield f"{kernel['op_name']}/{kernel['variant']} `{kernel['name']}`", outcome
    for finding in findings if isinstance(findings, list) else ():
        yield f"finding {finding['code']} {finding['fingerprint']}", f"{finding['path']}: {finding['message']}"


def _differences(usual: Mapping[str, object], here: Mapping[str, object]) -> Iterator[str]:
    if here["run"] != usual["run"]:
        yield f"run: {here['run']} instead of {usual['run']}"
        return
    for name in dict.fromkeys((*usual, *here)):
        if usual.get(name) != here.get(name):
            label = name.rpartition(" ")[0] if name.startswith("finding ") else name
            yield f"{label}: {_shown(here.get(name))} instead of {_shown(usual.get(name))}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    first = last = numbers[0]
    for number in (*numbers[1:], None):
        if number == last + 1:
            last = number
            continue
        yield str(first) if first == last else f"{first}-{last}"
        if number is not None:
            first = last = number
