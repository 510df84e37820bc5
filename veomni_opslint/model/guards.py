"""Conditions in a world without NPU: does the path need a guard that is false there?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from veomni_opslint.conditions import Condition, atoms, possible, truth
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Scope
from veomni_opslint.model.symbols import Symbols, Target

_MAX_DEPTH = 12
_DEVICE_WORDS = ("device", "accelerator", "platform", "hardware", "backend")
_REQUIRING_WORDS = ("require", "only", "need")


@dataclass(frozen=True, slots=True)
class WithoutNpu:
    """Answers whether a condition can hold where no NPU package is installed and no NPU is there."""

    symbols: Symbols
    dialect: Dialect
    deep: Callable[[str], FileFacts]
    cuda: bool | None = None
    _on_gpu: list[WithoutNpu] = field(default_factory=list, repr=False)
    _atoms: dict[tuple[str, int, Condition], bool | None] = field(default_factory=dict, repr=False)

    def on_gpu(self) -> WithoutNpu:
        """The same world, with a CUDA device in it."""
        if not self._on_gpu:
            self._on_gpu.append(WithoutNpu(self.symbols, self.dialect, self.deep, cuda=True))
        return self._on_gpu[0]

    def possible(self, module: str, scope: int, condition: Condition) -> bool:
        """Whether a path under *condition*, in a scope of *module*, can be taken without an NPU."""
        if condition == ("true",):
            return True
        # Whether a call returns takes a look into another file, and mostly a guard has decided already.
        if not possible(condition, self._values(module, scope, 0, calls_return=True)):
            return False
        return not any(atom[0] == "completes" for atom in atoms(condition)) or possible(
            condition, self._values(module, scope, 0)
        )

    def truth(self, module: str, scope: int, condition: Condition) -> bool | None:
        """The truth of a condition without an NPU, None when it depends on something else."""
        return truth(condition, self._values(module, scope, 0))

    def _values(
        self, module: str, scope: int, depth: int, calls_return: bool = False
    ) -> Callable[[Condition], bool | None]:
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
                return False if atom[1] in self.dialect.npu_packages else None
            case "item":
                return False if atom[2] in self.dialect.npu_packages else None
            case "name":
                return self._name(module, scope, atom[1], depth)
            case "call":
                return self._call(module, scope, atom, depth)
            case "param" | "opaque":
                # ``self.is_npu``, ``tensor.is_npu``: whatever it is an attribute of, it asks the same.
                label = str(atom[1] if atom[0] == "param" else atom[3])
                return False if "." in label and label.rpartition(".")[2] in self.dialect.npu_guards else None
            case "cmp":
                return self._comparison(atom)
            case "gate":
                return self._gate(module, scope, atom, depth)
            case "completes":
                return self._completes(module, scope, atom[1], depth)
        return None

    def _name(self, module: str, scope: int, name: str, depth: int) -> bool | None:
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards and last.startswith("is_") and self._is_function(module, scope, name):
            # A guard that is named and not called is always true.
            return True
        if last in self.dialect.npu_guards or last == "TYPE_CHECKING":
            return False
        if last in self.dialect.cuda_guards:
            return self.cuda
        known: list[bool | None] = []
        for target in self.symbols.resolve(module, scope, name):
            if target.kind != "value" or target.rest:
                return None
            held = dict(self.symbols.modules[target.module].truths).get(target.name)
            if held is None:
                return None
            known.append(truth(held, self._values(target.module, 0, depth + 1)))
        return known[0] if known and len(set(known)) == 1 else None

    def _call(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        name, arguments = atom[1], atom[2]
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards or (last == "is_available" and ".npu." in f".{name}"):
            return False
        if last in self.dialect.cuda_guards or name.endswith("cuda.is_available"):
            return self.cuda
        if last in self.dialect.availability_checks and arguments and arguments[0] in self.dialect.npu_packages:
            return False
        if last in ("hasattr", "getattr") and len(arguments) >= 2:
            owner = arguments[0]
            if (
                isinstance(owner, tuple)
                and owner[:1] == ("name",)
                and f"{owner[1]}.{arguments[1]}" in self.dialect.npu_packages
            ):
                return False
        return self._returns(module, scope, name, depth)

    def _returns(self, module: str, scope: int, name: str, depth: int) -> bool | None:
        known: list[bool | None] = []
        for target in self.symbols.resolve(module, scope, name):
            if target.kind == "external" and target.name.rpartition(".")[2] in self.dialect.npu_guards:
                return False
            function = self._function(target)
            if function is None:
                return None
            known.append(truth(function.returns, self._values(target.module, target.scope, depth + 1)))
        return known[0] if known and len(set(known)) == 1 else None

    def _completes(self, module: str, scope: int, name: str, depth: int) -> bool:
        """Whether a call can return. Only what is known to end in an exception without an NPU cannot."""
        targets = self.symbols.resolve(module, scope, name)
        for target in targets:
            function = self._function(target)
            if function is None or possible(function.completes, self._values(target.module, target.scope, depth + 1)):
                return True
        return not targets

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

    def _comparison(self, atom: Condition) -> bool | None:
        _, operator, left, right = atom
        if operator == "Eq" and right[0] == "const" and right[1] in self.dialect.npu_device_names:
            return False if self._is_device(left) else None
        if operator == "Eq" and right == ("const", "cuda") and self._is_device(left):
            return self.cuda
        if operator == "Is" and right == ("const", None) and left[0] == "call":
            last = left[1].rpartition(".")[2]
            if last in self.dialect.availability_checks and left[2] and left[2][0] in self.dialect.npu_packages:
                return True
            if last == "getattr" and len(left[2]) >= 2 and left[2][1] == "npu":
                return True
        if operator == "In" and left[0] == "const" and isinstance(left[1], str):
            if left[1] in self.dialect.npu_packages and right == ("name", "sys.modules"):
                return False
            if left[1] in self.dialect.npu_device_names and self._is_device(right):
                return False
        return None

    def _is_device(self, operand: Condition) -> bool:
        label = {"name": 1, "param": 1, "call": 1, "opaque": 3, "item": 2}.get(operand[0])
        if label is None or len(operand) <= label:
            return False
        text = str(operand[label]).lower()
        return any(word in text for word in _DEVICE_WORDS)

    def _gate(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        parent = self.symbols.modules[module].scopes[scope].parent if scope else 0
        held = self._name(module, max(parent, 0), atom[1], depth)
        if held is not None:
            return held
        last = atom[1].rpartition(".")[2].lower()
        return False if "npu" in last and any(word in last for word in _REQUIRING_WORDS) else None
