"""One module assigns a slot name twice, so the first slot is lost."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from veomni_opslint.conditions import Condition, both, negate, possible
from veomni_opslint.facts import Binding
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.block_order import PlacedBlock, block_sequences
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

Slot: TypeAlias = OpSlotInfo | ConfigSlotInfo
Slots: TypeAlias = dict[int, list[Slot]]


class _Bound(NamedTuple):
    """One binding of a module-level name, and the slot that it gives the name, if any."""

    path: str
    binding: Binding
    slot: Slot | None


class _Loss(NamedTuple):
    """The binding of a slot, and the later one that takes its name."""

    first: _Bound
    second: _Bound
    lost: Slot


def check(model: OpsModel) -> Iterator[Finding]:
    slots: Slots = {}
    every: tuple[Slot, ...] = (*model.slots, *model.config_slots)
    for slot in every:
        if slot.at_module_level:
            slots.setdefault(id(slot.namespace), []).append(slot)
    for module, facts in model.modules_in(model.package):
        for loss in _losses(model, [PlacedBlock(facts.path, facts)], slots) if id(facts) in slots else ():
            yield _finding(model, loss, loss.second, _origin(model, module, loss, slots))
        for sequence in block_sequences(model, module) if facts.embedded else ():
            for loss in _losses(model, sequence, slots):
                own = next((one for one in (loss.second, loss.first) if one.path == facts.path), None)
                if own is not None:
                    yield _finding(model, loss, own, ())


def _losses(model: OpsModel, sequence: Iterable[PlacedBlock], slots: Slots) -> Iterator[_Loss]:
    for bound in _bindings(sequence, slots).values():
        for index, first in enumerate(bound):
            second = _taker(model, bound, index) if first.slot is not None else None
            if first.slot is not None and second is not None:
                yield _Loss(first, second, first.slot)


def _bindings(sequence: Iterable[PlacedBlock], slots: Slots) -> dict[str, list[_Bound]]:
    """The bindings, in order, of each name that is given to a slot somewhere in the sequence of namespaces."""
    blocks = tuple(sequence)
    names = {name for block in blocks for slot in slots.get(id(block.facts), ()) for name in slot.names}
    found: dict[str, list[_Bound]] = {}
    for block in blocks:
        own = [one for one in block.facts.bindings if one.scope == 0 and (one.name in names or one.value_name in names)]
        created: dict[Binding, Slot] = {}
        by_name: dict[str, list[Binding]] = {}
        for one in own:
            by_name.setdefault(one.name, []).append(one)
        for same in by_name.values():
            same.sort(key=_start)
        for slot in slots.get(id(block.facts), ()):
            for name in slot.names:
                bindings = by_name.get(name, [])
                end = bisect_right(bindings, slot.span[:2], key=_start)
                if end:
                    created[bindings[end - 1]] = slot
        for binding in own:
            for name in {binding.name, binding.value_name} & names:
                found.setdefault(name, []).append(_Bound(block.path, binding, created.get(binding)))
    return found


def _start(binding: Binding) -> tuple[int, int]:
    return binding.span[:2]


def _taker(model: OpsModel, bound: list[_Bound], index: int) -> _Bound | None:
    """The first later binding that runs whenever that at *index* does; None when something keeps the slot before."""
    first = bound[index]
    name, when = first.binding.name, first.binding.when
    for position in range(index + 1, len(bound)):
        second = bound[position]
        if second.binding.name != name or (second.slot is None and _uses_itself(model, second)):
            return None
        instead = not possible(both(when, second.binding.when), _as_loaded)
        if not instead and not possible(both(when, negate(second.binding.when)), _as_loaded):
            return second
    return None


def _as_loaded(atom: Condition) -> bool | None:
    return True if atom[0] == "completes" else None


def _uses_itself(model: OpsModel, bound: _Bound) -> bool:
    """Whether a statement such as ``slot = wrapped(slot)`` assigns the name."""
    lines = model.files[bound.path].lines[bound.binding.span[0] - 1 :]
    written = ""
    for line in lines:
        written += line.partition("#")[0]
        if written.count("(") <= written.count(")"):
            break
    return len(re.findall(rf"\b{re.escape(bound.binding.name)}\b", written)) > 1


def _origin(model: OpsModel, module: str, loss: _Loss, slots: Slots) -> Iterator[Related]:
    """Where the patch config of a generated module assigns the name."""
    folder, _, stem = module.rpartition(".")
    if loss.lost.source != "generated":
        return
    made = stem.removeprefix(model.dialect.generated_prefix)
    config = f"{folder.rpartition('.')[0]}.{made}_{model.dialect.patch_config_suffix}"
    if config in model.symbols.modules:
        for sequence in block_sequences(model, config):
            for bound in _bindings(sequence, slots).get(loss.first.binding.name, ()):
                yield Related(model.place(bound.path, bound.binding.span), "the patch config assigns it here")


def _finding(model: OpsModel, loss: _Loss, at: _Bound, origin: Iterable[Related]) -> Finding:
    """The message leaves out which slots they are, so that it stays the same while one of them is edited.

    Only equal slots have a message of their own: who accepted them did not accept what differs later.
    """
    generated = loss.lost.source == "generated"
    name = loss.first.binding.name
    if _are_equal(loss):
        message = f"`{name}` is bound to the same slot twice: nothing breaks until one of them is edited; keep one"
    else:
        message = (
            f"`{name}` is bound to a slot and then again: the first slot is lost, so binding never "
            "reaches it and all code of the module gets what came second; keep one of them"
        )
    message += " in the patch config, and generate the file again" if generated else ""
    other = loss.first if at is loss.second else loss.second
    held = other.slot.written if other.slot is not None else "something that is no slot"
    label = f"first bound to {held}" if other is loss.first else f"then bound to {held}"
    related = Related(model.place(other.path, other.binding.span), label)
    return rule.finding(model.place(at.path, at.binding.span), message, [related, *origin])


def _are_equal(loss: _Loss) -> bool:
    """Whether both slots are known and the same."""
    second = loss.second.slot
    return second is not None and "…" not in second.written and second.written == loss.lost.written
