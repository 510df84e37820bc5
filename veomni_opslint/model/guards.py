"""What the guards of the project let through on a host: conditions, followed through names, classes and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from veomni_opslint.conditions import FALSE, Condition, atoms, both, either, possible, truth
from veomni_opslint.extract.operands import Operand
from veomni_opslint.facts import AttributeTruth, FileFacts, Scope
from veomni_opslint.model.arguments import substitute
from veomni_opslint.model.gates import Gate, Gates
from veomni_opslint.model.host import Host
from veomni_opslint.model.symbols import Symbols, Target

_MAX_DEPTH = 12
_MARKING_WORDS = ("npu", "skip", "require")
_Read = Callable[[AttributeTruth], Condition]
_Values = Callable[[Condition], bool | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Guards:
    """Answers whether a condition can hold on a host."""

    symbols: Symbols
    host: Host
    deep: Callable[[str], FileFacts]
    gates: Gates
    _elsewhere: dict[Host, Guards] = field(default_factory=dict, repr=False)
    _atoms: dict[tuple[str, int, Condition], bool | None] = field(default_factory=dict, repr=False)

    def on_gpu(self) -> Guards:
        """The same guards on a host with a CUDA device and no NPU."""
        return self._on(Host(self.host.dialect, cuda=True))

    def on_npu(self, tensors: bool = True) -> Guards:
        """The same guards on a host with an NPU, which has no CUDA device."""
        return self._on(Host(self.host.dialect, npu=True, cuda=False, tensors=tensors))

    def possible(self, module: str, scope: int, condition: Condition) -> bool:
        """Whether a path under *condition*, in a scope of *module*, can be taken on the host."""
        if condition == ("true",):
            return True
        # Whether a call returns takes a look into another file, and mostly a guard has decided already.
        if not possible(condition, self._values(module, scope, 0, calls_return=True)):
            return False
        return not any(atom[0] == "completes" for atom in atoms(condition)) or possible(
            condition, self._values(module, scope, 0)
        )

    def truth(self, module: str, scope: int, condition: Condition) -> bool | None:
        """The truth of a condition on the host, None when it depends on something else."""
        return truth(condition, self._values(module, scope, 0))

    def is_decided(self, module: str, scope: int, atom: Condition) -> bool:
        """Whether the truth of an atom is known, or is that a guard is something or None, which says nothing."""
        if atom[0] == "cmp" and atom[1] == "Is" and atom[3] == ("const", None) and atom[2][0] == "name":
            return self.host.name(atom[2][1]) is not None
        return self.truth(module, scope, atom) is not None

    def _on(self, host: Host) -> Guards:
        if host not in self._elsewhere:
            self._elsewhere[host] = Guards(self.symbols, host, self.deep, self.gates)
        return self._elsewhere[host]

    def _values(self, module: str, scope: int, depth: int, calls_return: bool = False) -> _Values:
        if calls_return:
            return lambda atom: True if atom[0] == "completes" else self._value(module, scope, atom, depth)
        return lambda atom: self._value(module, scope, atom, depth)

    def _value(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        if depth > _MAX_DEPTH:
            return None
        key = (module, scope, atom)
        if key not in self._atoms:
            self._atoms[key] = True if atom[0] == "completes" else None
            self._atoms[key] = self._decide(module, scope, atom, depth)
        return self._atoms[key]

    def _decide(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        match atom[0]:
            case "available":
                return self.host.package(atom[1])
            case "item":
                return self.host.package(atom[2])
            case "name":
                return self._name(module, scope, atom[1], depth)
            case "call":
                return self._call(module, scope, atom, depth)
            case "param" | "opaque":
                label = str(atom[1] if atom[0] == "param" else atom[3])
                own = atom[0] == "param" and not self.host.is_npu_guard(label)
                held = self._own_attribute(module, scope, label, depth) if own else None
                return held if held is not None else self.host.attribute(label)
            case "cmp":
                return self._comparison(module, scope, atom, depth)
            case "gate":
                return self._gate(module, scope, atom, depth)
            case "completes":
                if len(atom) > 2:
                    return self._opens(module, scope, atom, depth)
                return self._completes(module, scope, atom[1], depth)
        return None

    def _name(self, module: str, scope: int, name: str, depth: int) -> bool | None:
        last = name.rpartition(".")[2]
        if last in self.host.dialect.npu_guards and last.startswith("is_") and self._is_function(module, scope, name):
            # A guard that is named and not called is always true.
            return True
        said = self.host.name(name)
        if said is not None or self.host.asks_for_cuda(name):
            return said
        targets = self.symbols.resolve(module, scope, name.partition("@")[0])
        if any(self._is_of_npu(target) for target in targets):
            # A file that goes on without the package gives its name another value, None mostly.
            return self.host.npu
        known: list[bool | None] = []
        for target in self.symbols.resolve(module, scope, name):
            if target.kind == "scope" and target.rest:
                known.append(self._attribute(target.module, target.scope, target.rest, depth + 1))
                continue
            if target.kind != "value" or target.rest:
                return None
            held = dict(self.symbols.modules[target.module].truths).get(target.name)
            if held is None:
                return None
            known.append(truth(held, self._values(target.module, 0, depth + 1)))
        return known[0] if known and len(set(known)) == 1 else None

    def _call(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        said = self.host.call(atom[1], atom[2])
        if said is not None or self.host.asks_for_cuda(atom[1]):
            return said
        return self._returns(module, scope, atom[1], depth)

    def _returns(
        self,
        module: str,
        scope: int,
        name: str,
        depth: int,
        read: Callable[[Scope], Condition] = lambda one: one.returns,
    ) -> bool | None:
        """Whether a function returns something true, or what *read* asks for; all that the name means must agree."""
        known: list[bool | None] = []
        for target in self.symbols.resolve(module, scope, name):
            if target.kind == "external" and target.name.rpartition(".")[2] in self.host.dialect.npu_guards:
                return self.host.npu
            function = self._function(target)
            if function is None:
                return None
            known.append(truth(read(function), self._values(target.module, target.scope, depth + 1)))
        return known[0] if known and len(set(known)) == 1 else None

    def _comparison(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        _, operator, left, right = atom
        if left[0] in ("name", "call", "param") and right[0] == "const" and operator in ("Eq", "Is"):
            if left[0] == "name":
                chosen = self._chosen(module, scope, left[1], right[1], depth)
            elif left[0] == "call":
                chosen = self._returns(module, scope, left[1], depth, lambda one: _holds(one.choices, right[1]))
            else:
                chosen = self._own_attribute(module, scope, left[1], depth, lambda one: _holds(one.choices, right[1]))
            if chosen is not None:
                return chosen
        said = self.host.comparison(operator, left, right)
        if said is None and operator == "Is" and right == ("const", None) and left[0] == "name":
            targets = self.symbols.resolve(module, scope, left[1].partition("@")[0])
            return not self.host.npu if any(self._is_of_npu(target) for target in targets) else None
        return said

    def _chosen(self, module: str, scope: int, name: str, constant: object, depth: int) -> bool | None:
        """Whether a variable of a module, which a guard chose a constant for, holds *constant*; all must agree."""
        known: set[bool | None] = set()
        for target in self.symbols.resolve(module, scope, name):
            if target.kind != "value" or target.rest:
                return None
            among = dict(self.symbols.modules[target.module].choices).get(target.name, ())
            if not among:
                return None
            known.add(truth(_holds(among, constant), self._values(target.module, 0, depth + 1)))
        return known.pop() if len(known) == 1 else None

    def _gate(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        """Whether a decorator lets run what it is put on."""
        said = None
        if any(word in atom[1].rpartition(".")[2].lower() for word in _MARKING_WORDS):
            # A mark that is kept under a name, as ``needs_npu = pytest.mark.skipif(…)``.
            said = self._name(module, scope, atom[1], depth)
        if said is None:
            said = self.host.gate(atom[1])
        return said if said is not None or self._opens(module, scope, atom, depth) else False

    def _completes(self, module: str, scope: int, name: str, depth: int) -> bool:
        """Whether a call can return. Only what is known to end in an exception without an NPU cannot."""
        targets = self.gates.resolve(module, scope, name)
        for target in targets:
            function = self._function(target)
            if function is None or possible(function.completes, self._values(target.module, target.scope, depth + 1)):
                return True
        return not targets

    def _opens(self, module: str, scope: int, atom: Condition, depth: int) -> bool:
        """Whether a decorator or a context manager can let run what it is put around."""
        ways = self.gates.of(module, scope, atom)
        here = self._values(module, scope, depth + 1)
        return not ways or any(all(self._is_open(gate, here, depth) for gate in way) for way in ways)

    def _is_open(self, gate: Gate, here: _Values, depth: int) -> bool:
        if gate.when is None:
            return not self.host.is_asked_in(self.gates.text(gate))
        return possible(substitute(gate.when, gate.given, self._values(gate.module, gate.scope, depth + 1)), here)

    def _own_attribute(
        self, module: str, scope: int, name: str, depth: int, read: _Read = lambda one: one.held
    ) -> bool | None:
        """The truth of ``self.x`` in a method, or in a function of one."""
        root, _, attribute = name.partition(".")
        if root not in ("self", "cls") or not attribute:
            return None
        scopes = self.symbols.modules[module].scopes
        if scope >= len(scopes):
            scopes = self.deep(module).scopes
        while scope > 0 and scopes[scopes[scope].parent].kind != "class":
            scope = scopes[scope].parent
        return self._attribute(module, scopes[scope].parent, attribute, depth + 1, read) if scope > 0 else None

    def _attribute(
        self, module: str, owner: int, name: str, depth: int, read: _Read = lambda one: one.held
    ) -> bool | None:
        """The truth of an attribute that a class, or a base of it, gives its instances; all values must agree."""
        facts = self.deep(module)
        if depth > _MAX_DEPTH or facts.scopes[owner].kind != "class":
            return None
        found = [one for one in facts.attributes if one.owner == owner and one.name == name]
        if found:
            known = {truth(read(one), self._values(module, one.scope, depth + 1)) for one in found}
            return known.pop() if len(known) == 1 else None
        bases = [
            target
            for base in facts.scopes[owner].bases
            for target in self.symbols.resolve_deep(facts, module, facts.scopes[owner].parent, base)
            if target.kind == "scope" and not target.rest
        ]
        given = (self._attribute(one.module, one.scope, name, depth + 1, read) for one in bases)
        return next((one for one in given if one is not None), None)

    def _is_function(self, module: str, scope: int, name: str) -> bool:
        targets = self.symbols.resolve(module, scope, name)
        return bool(targets) and all(
            target.kind == "scope"
            and not target.rest
            and self._deep_scope(target.module, target.scope).kind == "function"
            for target in targets
        )

    def _function(self, target: Target) -> Scope | None:
        if target.kind != "scope" or target.rest:
            return None
        function = self._deep_scope(target.module, target.scope)
        if function.kind != "function" or function.is_generator or function.is_async:
            return None
        return function

    def _deep_scope(self, module: str, index: int) -> Scope:
        facts = self.symbols.modules[module]
        if index < len(facts.scopes) and not facts.scopes[index].deferred:
            return facts.scopes[index]
        return self.deep(module).scopes[index]

    def _is_of_npu(self, target: Target) -> bool:
        return target.kind == "external" and self.host.is_of_npu(target.name)


def _holds(among: tuple[tuple[Condition, Operand], ...], constant: object) -> Condition:
    """When what is one of several operands is this constant; opaque where there are none."""
    held = FALSE if among else ("opaque", 0, 0, "")
    for when, value in among:
        if value[0] != "const":
            held = either(held, both(when, ("cmp", "Eq", value, ("const", constant))))
        elif value[1] == constant:
            held = either(held, when)
    return held
