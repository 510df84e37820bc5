"""The static registry beside the one at run time: ``python -m evaluation.registry --repo GIT_DIR --cases DIR``.

For each revision in ``registry.json`` the kernel specs must agree row by row (op, variant, name, hardware, file and
line of the factory), and so must the counts of op specs, slots, config slots and config fields. A slot name that one
module assigns twice counts once, as it does at run time. Ends with 0 when all agree, 1 when not, 2 without inputs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.opslint_child import OpslintFailedError, add_command_option, command_from, registry
from evaluation.revisions import MissingInputError, need_git_dir, tree_of

Row = tuple[object, ...]
COUNTS = ("op_specs", "slots_generated", "slots_patch_gen_config", "slots_other", "config_slots", "config_fields")


@dataclass(frozen=True, slots=True)
class Difference:
    """How one revision's static registry differs from the one at run time; empty when it does not."""

    commit: str
    missing: tuple[Row, ...]
    extra: tuple[Row, ...]
    counts: tuple[tuple[str, int, int], ...]
    unresolved: int
    problem: str = ""

    @property
    def agrees(self) -> bool:
        return not (self.missing or self.extra or self.counts or self.problem)


def static_rows(static: Mapping[str, Any]) -> Counter[Row]:
    """The kernel specs as rows of ``registry.json``."""
    keys = (
        "op_name", "variant", "name", "device_type", "min_compute_capability", "max_compute_capability",
        "factory_file", "factory_line",
    )  # fmt: skip
    return Counter(_row(spec[key] for key in keys) for spec in static["kernel_specs"])


def static_counts(static: Mapping[str, Any]) -> dict[str, int]:
    """The counts that ``registry.json`` has, of module attributes that are alive after import."""
    live = {
        (slot["file"], slot["var"]): slot["source"] for slot in static["op_slots"] if not slot.get("embedded", False)
    }
    sources = Counter(live.values())
    config_slots = {(slot["file"], slot["var"]) for slot in static["config_slots"] if not slot.get("embedded", False)}
    return {
        "op_specs": len(static["op_specs"]),
        "slots_generated": sources["generated"],
        "slots_patch_gen_config": sources["patch_gen_config"],
        "slots_other": sources["other"],
        "config_slots": len(config_slots),
        "config_fields": len(static["config_fields"]),
    }


def difference(truth: Mapping[str, Any], static: Mapping[str, Any]) -> Difference:
    """Compare the static registry of one revision with the one at run time."""
    expected = Counter(_row(row) for row in truth["kernel_specs"])
    found = static_rows(static)
    counts = static_counts(static)
    return Difference(
        commit=truth["commit"],
        missing=tuple(sorted((expected - found).elements(), key=repr)),
        extra=tuple(sorted((found - expected).elements(), key=repr)),
        counts=tuple((name, truth[name], counts[name]) for name in COUNTS if truth[name] != counts[name]),
        unresolved=len(static["unresolved"]),
    )


def report(differences: Sequence[Difference]) -> str:
    """The differences as text, one block a revision."""
    lines = []
    for one in differences:
        verdict = "agrees" if one.agrees else "DIFFERS"
        lines.append(f"{verdict:<8} {one.commit}" + (f"  {one.unresolved} unresolved" if one.unresolved else ""))
        if one.problem:
            lines.append(f"    {one.problem}")
        lines += [f"    missing: {_shown(row)}" for row in one.missing]
        lines += [f"    extra:   {_shown(row)}" for row in one.extra]
        lines += [f"    {name}: {expected} at run time, {found} found" for name, expected, found in one.counts]
    good = sum(one.agrees for one in differences)
    lines.append(f"{good} of {len(differences)} revisions agree")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare every revision and print the differences."""
    parser = argparse.ArgumentParser(description="Compare the static registry with what was measured at run time.")
    parser.add_argument("--repo", type=Path, required=True, metavar="GIT_DIR")
    parser.add_argument("--cases", type=Path, required=True, metavar="DIR", help="the folder that has registry.json")
    parser.add_argument("--commits", default="", help="only these revisions, separated by commas")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the unpacked trees here")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    command = command_from(options)
    try:
        need_git_dir(options.repo)
        truths = _truths(options.cases / "registry.json", options.commits)
        with tempfile.TemporaryDirectory() as scratch:
            cache = options.cache or Path(scratch)
            differences = [_compare(truth, command, tree_of(options.repo, truth["commit"], cache)) for truth in truths]
    except MissingInputError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    print(report(differences))
    return 0 if all(one.agrees for one in differences) else 1


def _compare(truth: Mapping[str, Any], command: Sequence[str], tree: Path) -> Difference:
    try:
        return difference(truth, registry(command, tree))
    except OpslintFailedError as error:
        return Difference(truth["commit"], (), (), (), 0, str(error))


def _truths(path: Path, commits: str) -> list[dict[str, Any]]:
    try:
        revisions: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["revisions"]
    except FileNotFoundError:
        raise MissingInputError(f"no such file: {path}") from None
    wanted = tuple(part for part in commits.split(",") if part)
    chosen = [revision for revision in revisions if not wanted or revision["commit"].startswith(wanted)]
    if not chosen:
        raise MissingInputError(f"no such revision in {path}")
    return chosen


def _row(values: Iterable[object]) -> Row:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def _shown(row: Row) -> str:
    return " ".join("-" if value is None else str(value) for value in row)


if __name__ == "__main__":
    raise SystemExit(main())
