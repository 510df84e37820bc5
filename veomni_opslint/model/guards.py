"""Conditions in a world without NPU, or with one and without CUDA: does the path need a guard that is false there?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from veomni_opslint.conditions import FALSE, Condition, atoms, either, possible, truth
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import AttributeTruth, FileFacts, Scope
from veomni_opslint.model.symbols import Symbols, Target

_MAX_DEPTH = 12
_DEVICE_WORDS = ("device", "accelerator", "platform", "hardware", "backend")
_REQUIRING_WORDS = ("require", "only", "need")
_CUDA_WORDS = frozenset(
    {"cuda", "nvidia", "sm80", "sm90", "sm100", "hopper", "ampere", "blackwell", "capability", "nccl"}
)
_Read = Callable[[AttributeTruth], Condition]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithoutNpu:
    """Answers whether a condition can hold where no NPU package is installed and no NPU is there.

    ``on_npu`` is the opposite world, where an NPU is the accelerator. Unless ``tensors``, what a tensor says of itself
    (``x.is_cuda``) decides nothing there.
    """

    symbols: Symbols
    dialect: Dialect
    deep: Callable[[str], FileFacts]
    cuda: bool | None = None
    npu: bool = False
    tensors: bool = True
    _on_gpu: list[WithoutNpu] = field(default_factory=list, repr=False)
    _on_npu: dict[bool, WithoutNpu] = field(default_factory=dict, repr=False)
    _atoms: dict[tuple[str, int, Condition], bool | None] = field(default_factory=dict, repr=False)

    def on_gpu(self) -> WithoutNpu:
        """The same world, with a CUDA device in it."""
        if not self._on_gpu:
            self._on_gpu.append(WithoutNpu(self.symbols, self.dialect, self.deep, cuda=True))
        return self._on_gpu[0]

    def on_npu(self, tensors: bool = True) -> WithoutNpu:
        """The world of a host with an NPU, which has no CUDA device."""
        if tensors not in self._on_npu:
            world = WithoutNpu(self.symbols, self.dialect, self.deep, cuda=False, npu=True, tensors=tensors)
            self._on_npu[tensors] = world
        return self._on_npu[tensors]

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
                return self._package(atom[1])
            case "item":
                return self._package(atom[2])
            case "name":
                return self._name(module, scope, atom[1], depth)
            case "call":
                return self._call(module, scope, atom, depth)
            case "param" | "opaque":
                # ``self.is_npu``, ``tensor.is_npu``: whatever it is an attribute of, it asks the same.
                label = str(atom[1] if atom[0] == "param" else atom[3])
                if "." in label and label.rpartition(".")[2] in self.dialect.npu_guards:
                    return self.npu
                held = self._own_attribute(module, scope, label, depth) if atom[0] == "param" else None
                if held is not None:
                    return held
                if label.endswith(".is_cuda") and not self.tensors:
                    return None
                return False if self.npu and _speaks_of_cuda(label) else None
            case "cmp":
                return self._comparison(module, scope, atom, depth)
            case "gate":
                return self._gate(module, scope, atom, depth)
            case "completes":
                return (
                    self._enters(module, scope, atom[1], depth)
                    if len(atom) > 2
                    else self._completes(module, scope, atom[1], depth)
                )
        return None

    def _name(self, module: str, scope: int, name: str, depth: int) -> bool | None:
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards and last.startswith("is_") and self._is_function(module, scope, name):
            # A guard that is named and not called is always true.
            return True
        if last in self.dialect.npu_guards:
            return self.npu
        if last == "TYPE_CHECKING":
            return False
        if last in self.dialect.cuda_guards:
            return self.cuda
        if self.npu and _speaks_of_cuda(last):
            return False
        targets = self.symbols.resolve(module, scope, name.partition("@")[0])
        if any(self._is_of_npu(target) for target in targets):
            # A file that goes on without the package gives its name another value, None mostly.
            return self.npu
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

    def _call(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        name, arguments = atom[1], atom[2]
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards or (last == "is_available" and ".npu." in f".{name}"):
            return self.npu
        if last in self.dialect.cuda_guards or name.endswith("cuda.is_available"):
            return self.cuda
        if last in self.dialect.availability_checks and arguments and self._package(arguments[0]) is not None:
            return self._package(arguments[0])
        if self.npu and _speaks_of_cuda(last):
            return False
        if last in ("hasattr", "getattr") and len(arguments) >= 2:
            owner = arguments[0]
            if (
                isinstance(owner, tuple)
                and owner[:1] == ("name",)
                and f"{owner[1]}.{arguments[1]}" in self.dialect.npu_packages
            ):
                return self.npu
        return self._returns(module, scope, name, depth)

    def _returns(self, module: str, scope: int, name: str, depth: int) -> bool | None:
        known: list[bool | None] = []
        for target in self.symbols.resolve(module, scope, name):
            if target.kind == "external" and target.name.rpartition(".")[2] in self.dialect.npu_guards:
                return self.npu
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

    def _enters(self, module: str, scope: int, name: str, depth: int) -> bool:
        """Whether a context manager of the project can let its body run: a generator, or a class with ``__enter__``."""
        targets = self.symbols.resolve(module, scope, name)
        for target in targets:
            parts = [] if target.kind != "scope" or target.rest else list(self._entered(target))
            if all(possible(part.completes, self._values(target.module, part.index, depth + 1)) for part in parts):
                return True
        return not targets

    def _entered(self, target: Target) -> Iterator[Scope]:
        """The functions that run before the body of ``with`` does."""
        here = self._deep_scope(target.module, target.scope)
        if here.kind == "function" and here.is_generator and any("contextmanager" in one for one in here.decorators):
            yield here
        elif here.kind == "class":
            for one in self.symbols.modules[target.module].scopes:
                if one.parent == here.index and one.name in ("__init__", "__enter__", "__aenter__"):
                    yield self._deep_scope(target.module, one.index)

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
        packages = self.dialect.npu_packages
        return target.kind == "external" and f"{target.name}.".startswith(tuple(f"{one}." for one in packages))

    def _comparison(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        _, operator, left, right = atom
        if left[0] in ("name", "param") and right[0] == "const" and operator in ("Eq", "Is"):
            if left[0] == "name":
                chosen = self._chosen(module, scope, left[1], right[1], depth)
            else:
                chosen = self._own_attribute(module, scope, left[1], depth, lambda one: _holds(one.choices, right[1]))
            if chosen is not None:
                return chosen
        if operator == "Eq" and right[0] == "const" and right[1] in self.dialect.npu_device_names:
            if self.npu:
                # What the helper gives is the accelerator of the host; another device may be the CPU's.
                return True if _last(left) == self.dialect.device_helpers.get("type") else None
            # An implementation for the NPU that a job selects is refused where there is none.
            selected = _label(left).endswith(self.dialect.implementation_suffix)
            return False if selected or self._is_device(left) else None
        if operator == "Eq" and right in (("const", "cuda"), ("const", "nccl")):
            return self.cuda
        if (
            operator == "Eq"
            and self.npu
            and right[0] == "const"
            and _last(left) == self.dialect.device_helpers.get("type")
        ):
            return False
        if operator == "Is" and ("name", "torch.cuda") in (left, right):
            return self.cuda
        if self.npu and operator != "Is" and any(_speaks_of_cuda(_label(one)) for one in (left, right)):
            return False
        if operator == "Is" and right == ("const", None) and left[0] == "name":
            targets = self.symbols.resolve(module, scope, left[1].partition("@")[0])
            return not self.npu if any(self._is_of_npu(target) for target in targets) else None
        if operator == "Is" and right == ("const", None) and left[0] == "call":
            last = left[1].rpartition(".")[2]
            if last in self.dialect.availability_checks and left[2] and left[2][0] in self.dialect.npu_packages:
                return not self.npu
            if last == "getattr" and len(left[2]) >= 2 and left[2][1] == "npu":
                return not self.npu
        if operator == "In" and left[0] == "const" and isinstance(left[1], str):
            if left[1] in self.dialect.npu_packages and right == ("name", "sys.modules"):
                return self.npu
            if left[1] in self.dialect.npu_device_names and self._is_device(right):
                return None if self.npu else False
            if left[1] == "cuda":
                return self.cuda
        return None

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

    def _package(self, name: object) -> bool | None:
        """Whether a package is installed, where the world decides that."""
        if name in self.dialect.npu_packages:
            return self.npu
        return False if self.npu and name in self.dialect.gpu_packages else None

    def _is_device(self, operand: Condition) -> bool:
        text = _label(operand).lower()
        return any(word in text for word in _DEVICE_WORDS)

    def _gate(self, module: str, scope: int, atom: Condition, depth: int) -> bool | None:
        parent = self.symbols.modules[module].scopes[scope].parent if scope else 0
        held = self._name(module, max(parent, 0), atom[1], depth)
        if held is not None:
            return held
        last = atom[1].rpartition(".")[2].lower()
        if not any(word in last for word in _REQUIRING_WORDS):
            return None
        if "npu" in last:
            return self.npu
        return False if self.npu and ("cuda" in last or "gpu" in last) else None


def _holds(among: tuple[tuple[Condition, object], ...], constant: object) -> Condition:
    """When what is one of several constants is this one; opaque where there are none."""
    held = FALSE if among else ("opaque", 0, 0, "")
    for when, value in among:
        held = either(held, when) if value == constant else held
    return held


def _label(operand: Condition) -> str:
    """The name of an operand, empty where it has none."""
    if operand[:2] == ("call", "str") and operand[2] and isinstance(operand[2][0], tuple):
        return _label(operand[2][0])
    position = {"name": 1, "param": 1, "call": 1, "opaque": 3, "item": 2}.get(operand[0])
    return str(operand[position]) if position is not None and len(operand) > position else ""


def _last(operand: Condition) -> str:
    """The last part of the name of what is called."""
    return str(operand[1]).rpartition(".")[2] if operand[0] == "call" else ""


def _speaks_of_cuda(name: str) -> bool:
    return bool(_CUDA_WORDS.intersection(name.lower().replace(".", "_").replace("(", "_").split("_")))
