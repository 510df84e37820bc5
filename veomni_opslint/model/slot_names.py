"""Where the package names a slot: in which functions, and under which names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Scope
from veomni_opslint.model.linked_project import LinkedProject
from veomni_opslint.model.sites import outer_functions
from veomni_opslint.model.slots import OpSlotInfo

Names = Mapping[str, OpSlotInfo]
_LINES_BACK = 60
_OTHER_BRANCHES = ("else", "elif", "except", "finally", "case", "def ", "async def ", "class ", "@", ")", "]", "}")
_LOCAL_NAME = re.compile(r"^\s*\w+\s*(?::[^=]+)?=\s*$|:=\s*$")
_ASSIGNED = re.compile(r"\s*(?::[^=\n]*)?=[^=]|\s*=\s*$")


class Mentions(NamedTuple):
    """A function (None for the code outside functions) whose text calls a slot, or names it for something else."""

    module: str
    function: Scope | None
    calls: bool
    others: bool


def find_slot_names(project: LinkedProject) -> dict[str, Names]:
    """The names of slots in each module that has some.

    A patch config uses those that the post-import blocks in its folder declare, or those of a config that imports it.
    """
    found: dict[str, dict[str, OpSlotInfo]] = {}
    folders: dict[str, dict[str, OpSlotInfo]] = {}
    for slot in project.slots:
        if not slot.at_module_level or not slot.live:
            continue
        for name in slot.names:
            found.setdefault(slot.module, {})[name] = slot
            if slot.embedded:
                folders.setdefault(slot.module.rpartition(".")[0], {}).setdefault(name, slot)
    if not found:
        return {}
    _add_patch_configs(project, found, folders)
    _add_imported(project, found)
    for module, names in found.items():
        for binding in project.module(module).bindings:
            if binding.scope == 0 and binding.kind == "assign" and binding.value_name in names:
                names.setdefault(binding.name, names[binding.value_name])
    return dict(sorted(found.items()))


def _add_patch_configs(
    project: LinkedProject, found: dict[str, dict[str, OpSlotInfo]], folders: Mapping[str, Names]
) -> None:
    suffix = project.dialect.patch_config_suffix
    for module, facts in project.modules_in(project.models_package):
        if not module.endswith(suffix):
            continue
        for name, slot in folders.get(module.rpartition(".")[0], {}).items():
            found.setdefault(module, {}).setdefault(name, slot)
        for imported in facts.imports:
            for target in project.symbols.loaded_by(module, imported):
                if target.endswith(suffix) and target != module:
                    for name, slot in found.get(module, {}).items():
                        found.setdefault(target, {}).setdefault(name, slot)


def _add_imported(project: LinkedProject, found: dict[str, dict[str, OpSlotInfo]]) -> None:
    declared = {(slot.module, name): slot for slot in project.slots if slot.at_module_level for name in slot.names}
    words = {name for _, name in declared}
    holders = {module.rpartition(".")[2] for module, _ in declared}
    for module, facts in project.modules_in(project.package):
        for imported in facts.imports:
            if imported.how == "import" and imported.module.rpartition(".")[2] in holders:
                _add_module(imported.module, imported.bound, declared, found.setdefault(module, {}))
            for one in imported.names:
                if one.name in holders:
                    source = f"{project.symbols.absolute(module, imported)}.{one.name}"
                    _add_module(source, one.bound, declared, found.setdefault(module, {}))
                if one.name not in words:
                    continue
                for target in project.symbols.attribute(project.symbols.absolute(module, imported), one.name):
                    slot = declared.get((target.module, target.name))
                    if target.kind == "value" and not target.rest and slot is not None:
                        found.setdefault(module, {})[one.bound] = slot


def _add_module(
    source: str, bound: str, declared: Mapping[tuple[str, str], OpSlotInfo], names: dict[str, OpSlotInfo]
) -> None:
    """The slots of a module that is imported under a name, as attributes of that name."""
    for (holder, name), slot in declared.items():
        if holder == source and "." not in bound:
            names[f"{bound}.{name}"] = slot


def mentions(module: str, facts: FileFacts, names: Names, dialect: Dialect) -> Iterator[Mentions]:
    """The functions of a file worth a look; a call on the line after its check is known to be in order."""
    functions = outer_functions(facts)
    starts = [function.span[0] for function in functions]
    seen: dict[int, list[bool]] = {}
    for offset, called in _worth_a_look(facts.text, names, dialect):
        line = facts.text.count("\n", 0, offset) + 1
        position = bisect_right(starts, line) - 1
        inside = position >= 0 and line <= functions[position].span[2]
        seen.setdefault(position if inside else -1, [False, False])[not called] = True
    for position, (calls, others) in sorted(seen.items()):
        yield Mentions(module, functions[position] if position >= 0 else None, calls, others)


def _worth_a_look(text: str, names: Names, dialect: Dialect) -> Iterator[tuple[int, bool]]:
    """Offsets where a slot is named, and whether it is called there."""
    guard = f".{dialect.slot_guard}"
    for name in names:
        end = 0
        while (start := text.find(name, end)) >= 0:
            end = start + len(name)
            if text.startswith(guard, end) or _is_part(text, start, end):
                continue
            line_start = text.rfind("\n", 0, start) + 1
            before = text[line_start:start]
            if not before.lstrip().startswith(("#", "from ", "import ")):
                for called in _kinds(text, line_start, before, name, dialect):
                    yield start, called


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether a found name is part of a longer one, an attribute of something, or in quotes."""
    left, right = text[start - 1 : start], text[end : end + 1]
    return left in (".", "_", '"', "'", "`") or left.isalnum() or right == "_" or right.isalnum()


def _kinds(text: str, line_start: int, before: str, name: str, dialect: Dialect) -> Iterator[bool]:
    """Whether a slot is called where it is named; both where it may also be called under another name."""
    offset = line_start + len(before) + len(name)
    behind = text[offset : offset + 40]
    kernel = f".{dialect.slot_kernel}()"
    if behind.startswith("("):
        if not _is_checked(text, line_start, before, f"if {name}.{dialect.slot_guard}:"):
            yield True
    elif behind.startswith(kernel):
        if behind.startswith("(", len(kernel)) or _LOCAL_NAME.search(before):
            yield True
    elif behind.startswith(kernel[:-2]) and not behind[len(kernel) - 2 :].startswith(("(", "_")):
        yield False
    elif behind.startswith(".__call__"):
        yield from (True,) if behind.startswith(".__call__(") else (True, False)
    elif not behind.startswith(".") and (before.strip() or not _ASSIGNED.match(behind)):
        yield False
        if before.strip():
            yield True


def _is_checked(text: str, line_start: int, before: str, guard: str) -> bool:
    """Whether a line stands in a block that begins with the check, as far as the margins of the lines show it."""
    margin = len(before) - len(before.lstrip())
    for _ in range(_LINES_BACK):
        if line_start <= 0:
            return False
        end = line_start - 1
        line_start = text.rfind("\n", 0, end) + 1
        line = text[line_start:end].strip()
        outer = text.find(line, line_start) - line_start if line else margin
        if outer < margin:
            if line.startswith(guard):
                return True
            if line.startswith(_OTHER_BRANCHES):
                return False
            margin = outer
    return False
