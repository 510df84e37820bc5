"""Compares what the evaluator says of generated packages with what they really register when they run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluate.generated_text import FLAGS
from evaluate.pruned import registrations_of

from veomni_opslint.registrations import Factory, Hardware, KernelSpec, Registrations, Unknown

_CHILD = Path(__file__).with_name("truth_child.py")


@dataclass
class Outcome:
    """How many registrations there were, how many of them were known, and what was wrong."""

    total: int = 0
    known: int = 0
    unjudged: int = 0
    failures: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def compare(packages: Mapping[str, Mapping[str, str]], root: Path, flag_sets: int = 2) -> Outcome:
    """Evaluate and run the packages, given as files by path for each name."""
    found: dict[str, Registrations] = {}
    question: dict[str, Any] = {"root": str(root), "packages": {}}
    for number, (name, files) in enumerate(packages.items()):
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        found[name] = registrations_of(files)
        conditions = sorted({text for spec in found[name].kernel_specs for text in spec.conditions})
        flags = [
            {flag: bool((number + index * 3 + turn * 5) >> index & 1) for index, flag in enumerate(FLAGS)}
            for turn in range(flag_sets)
        ]
        question["packages"][name] = {"flags": flags, "conditions": conditions}
    child = subprocess.run([sys.executable, "-I", str(_CHILD)], input=json.dumps(question), capture_output=True,
                           text=True, check=True)  # fmt: skip
    outcome = Outcome()
    for name, runs in json.loads(child.stdout).items():
        for run, flags in zip(runs, question["packages"][name]["flags"], strict=True):
            if "error" in run:
                outcome.errors.append(f"{name}: {run['error']}")
            else:
                _judge(f"{name} {flags}", found[name], run, outcome)
    return outcome


def _judge(label: str, found: Registrations, run: dict[str, Any], outcome: Outcome) -> None:
    unclear = {(item.place.path, item.place.line) for item in found.unresolved}
    judged = run["conditions"]
    if any(judged[text] is None for spec in found.kernel_specs for text in spec.conditions):
        # A condition over names local to a function that has ended.
        outcome.unjudged += 1
        return
    paths = {spec.place.path for spec in found.kernel_specs} | {entry["place"][0] for entry in run["log"]}
    for path in sorted(paths | {entry["caller"][0] for entry in run["log"]}):
        truth = [entry for entry in run["log"] if entry["caller"][0] == path]
        outcome.total += len(truth)
        truth = [entry for entry in truth if not unclear & {tuple(entry["place"]), tuple(entry["caller"])}]
        said = [
            spec for spec in found.kernel_specs
            if spec.caller.path == path and all(judged[text] for text in spec.conditions)
            and not unclear & {(place.path, place.line) for place in (spec.place, spec.caller)}
        ]  # fmt: skip
        outcome.known += len(truth)
        expected = [entry["fields"] + [entry["place"], entry["caller"]] for entry in truth]
        actual = [_fields(spec) for spec in said]
        pairs = zip(actual, expected, strict=False)
        if len(actual) != len(expected) or not all(_agree(one, other) for one, other in pairs):
            outcome.failures.append(f"{label} {path}:\n  said {actual}\n  true {expected}")
            continue
        for spec, entry in zip(said, truth, strict=True):
            if not _same_factory(spec.factory, entry["factory"]):
                outcome.failures.append(f"{label} {path}:\n  said {spec.factory}\n  true {entry['factory']}")


def _fields(spec: KernelSpec) -> list[Any]:
    hardware = spec.hardware
    details: list[Any] = [None] * 3
    if isinstance(hardware, Hardware):
        details = [hardware.device_type, hardware.min_compute_capability, hardware.max_compute_capability]
    if isinstance(details[0], tuple):
        details[0] = list(details[0])
    return [spec.op_name, spec.variant, spec.name, *details, spec.description, spec.force,
            [spec.place.path, spec.place.line], [spec.caller.path, spec.caller.line]]  # fmt: skip


def _agree(said: list[Any], true: list[Any]) -> bool:
    return all(isinstance(one, Unknown) or one == other for one, other in zip(said, true, strict=True))


def _same_factory(said: Factory | Unknown, true: list[Any]) -> bool:
    if isinstance(said, Unknown) or said.kind == "call":
        return True
    if true[0] == "partial":
        inner = true[1]
        return (
            said.kind == "partial"
            and said.bound == true[2]
            and sorted(said.bound_names) == true[3]
            and (said.place is not None and [said.place.path, said.place.line] == inner[1:])
        )
    if true[0] == "class":
        return said.kind == "class" and said.qualname == true[1]
    if true[0] == "external":
        return said.kind == "external"
    return said.place is not None and [said.place.path, said.place.line] == true[1:]
