"""Conditions while the op of a slot is eager, and the slot holds no kernel: guards of slots are known then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from veomni_opslint.conditions import Condition, possible, truth
from veomni_opslint.facts import FileFacts
from veomni_opslint.model.arguments import substitute
from veomni_opslint.model.gates import Gate
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.questions import Questions
from veomni_opslint.model.slot_names import Names
from veomni_opslint.model.slots import OpSlotInfo

_MAX_DEPTH = 8
_EAGER_WHEN = {"use_eager_impl": True, "is_bound": True}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WhileEager:
    """Answers whether a condition can hold then. ``names`` are the slots by module and name."""

    model: OpsModel
    names: Mapping[str, Names]
    _questions: list[Questions] = field(default_factory=list, repr=False)

    def possible(
        self, module: str, scope: int, slot: OpSlotInfo, when: Condition, block: FileFacts | None = None
    ) -> bool:
        """Whether a path is known to be taken while the slot's op is eager, if what else it depends on is so."""
        if not possible(when, self._values(module, scope, slot, 0)):
            return False
        return not self._asking.may_ask(module, block or self.model.module(module), scope, when)

    @property
    def _asking(self) -> Questions:
        if not self._questions:
            dialect = self.model.dialect
            words = (dialect.slot_guard, dialect.slot_kernel, "use_eager_impl")
            self._questions.append(Questions(self.model.symbols, self.model.deep, words))
        return self._questions[0]

    def _values(self, module: str, scope: int, slot: OpSlotInfo, depth: int) -> Callable[[Condition], bool | None]:
        """What is known of atoms while the slot's op is eager."""
        return lambda atom: self._value(module, scope, slot, atom, depth)

    def _value(self, module: str, scope: int, slot: OpSlotInfo, atom: Condition, depth: int) -> bool | None:
        match atom[0]:
            case "name":
                return self._name(module, slot, str(atom[1]))
            case "call":
                return self._call(module, scope, slot, atom, depth)
            case "cmp":
                return self._comparison(module, slot, atom)
            case "param" if str(atom[1]).startswith("self."):
                return self._attribute(module, scope, slot, str(atom[1]), depth)
            case "gate":
                return self._opens(module, scope, slot, atom, depth)
            case "completes" if len(atom) > 2:
                return self._opens(module, scope, slot, atom, depth)
            case "completes":
                return self._result(module, scope, slot, str(atom[1]), depth, completes=True)
        return None

    def _is_slot(self, module: str, slot: OpSlotInfo, name: str) -> bool:
        """Whether a name is that of the slot, or of one that the same field of the config binds."""
        known = self.names.get(module, {}).get(name)
        return known is not None and (known is slot or (known.op_name is not None and known.op_name == slot.op_name))

    def _name(self, module: str, slot: OpSlotInfo, name: str) -> bool | None:
        if self._is_slot(module, slot, name):
            return True
        owner, _, last = name.rpartition(".")
        if not self._is_slot(module, slot, owner):
            return None
        if last in (self.model.dialect.slot_guard, "_kernel"):
            return False
        return _EAGER_WHEN.get(last)

    def _call(self, module: str, scope: int, slot: OpSlotInfo, atom: Condition, depth: int) -> bool | None:
        owner, _, last = str(atom[1]).rpartition(".")
        if last == self.model.dialect.slot_kernel and self._is_slot(module, slot, owner):
            return False
        given = [one for one in atom[2] if isinstance(one, tuple) and one[:1] == ("name",)]
        if any(self._is_slot(module, slot, str(one[1])) for one in given):
            # ``getattr(slot, "use_non_eager_impl", False)``, ``usable(slot)``; any other question is answered by yes.
            return last in ("callable", "isinstance", "hasattr", "bool")
        return self._result(module, scope, slot, str(atom[1]), depth, completes=False)

    def _comparison(self, module: str, slot: OpSlotInfo, atom: Condition) -> bool | None:
        _, operator, left, right = atom
        if right == ("const", self.model.dialect.eager) and operator == "Eq":
            return True
        if operator == "Is" and right == ("const", None):
            if left[0] == "call":
                owner, _, last = str(left[1]).rpartition(".")
                return True if last == self.model.dialect.slot_kernel and self._is_slot(module, slot, owner) else None
            if left[0] == "name":
                if self._is_slot(module, slot, str(left[1])):
                    return False
                owner, _, last = str(left[1]).rpartition(".")
                return True if last == "_kernel" and self._is_slot(module, slot, owner) else None
        return None

    def _result(self, module: str, scope: int, slot: OpSlotInfo, name: str, depth: int, completes: bool) -> bool | None:
        """What a function of the project returns, or whether it returns, while the op is eager."""
        if depth > _MAX_DEPTH:
            return None
        results: list[bool | None] = []
        for target in self.model.without_npu.gates.resolve(module, scope, name):
            if target.kind != "scope" or target.rest:
                return None
            function = self.model.module(target.module).scopes[target.scope]
            if function.deferred:
                function = self.model.deep(target.module).scopes[target.scope]
            if function.kind != "function" or function.is_generator:
                return None
            values = self._values(target.module, target.scope, slot, depth + 1)
            results.append(truth(function.completes if completes else function.returns, values))
        return results[0] if results and len(set(results)) == 1 else None

    def _opens(self, module: str, scope: int, slot: OpSlotInfo, atom: Condition, depth: int) -> bool | None:
        """Whether a decorator or a context manager can let run what it is put around, while the op is eager."""
        ways = self.model.without_npu.gates.of(module, scope, atom) if depth <= _MAX_DEPTH else ()
        here = self._values(module, scope, slot, depth + 1)
        closed = ways and all(any(self._is_closed(gate, slot, here, depth) for gate in way) for way in ways)
        return False if closed else None

    def _is_closed(self, gate: Gate, slot: OpSlotInfo, here: Callable[[Condition], bool | None], depth: int) -> bool:
        if gate.when is None:
            return self.model.dialect.slot_guard in self.model.without_npu.gates.text(gate)
        there = self._values(gate.module, gate.scope, slot, depth + 1)
        if not possible(substitute(gate.when, gate.given, there), here):
            return True
        return self._asking.may_ask(gate.module, self.model.module(gate.module), gate.scope, gate.when)

    def _attribute(self, module: str, scope: int, slot: OpSlotInfo, name: str, depth: int) -> bool | None:
        """The truth of ``self.x``, where the class assigns it once."""
        facts = self.model.module(module)
        owner = facts.scopes[scope] if scope < len(facts.scopes) else facts.scopes[0]
        while owner.index > 0 and owner.kind != "class":
            owner = facts.scopes[owner.parent]
        if owner.kind != "class" or depth > _MAX_DEPTH or name.count(".") != 1:
            return None
        attribute = name.partition(".")[2]
        if not re.search(rf"{re.escape(name)}\s*(?::[^=\n]+)?=(?!=)", facts.text):
            return None
        known = {
            truth(one.held, self._values(module, one.scope, slot, depth + 1))
            for one in self.model.deep(module).attributes
            if one.owner == owner.index and one.name == attribute
        }
        return known.pop() if len(known) == 1 else None
