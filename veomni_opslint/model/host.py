"""A host as conditions ask for it: what is known of its accelerator and its packages without reading the project."""

from __future__ import annotations

from dataclasses import dataclass

from veomni_opslint.conditions import Condition
from veomni_opslint.dialect import Dialect

_DEVICE_WORDS = ("device", "accelerator", "platform", "hardware", "backend")
_REQUIRING_WORDS = ("require", "only", "need")
_CUDA_WORDS = frozenset(
    {"cuda", "nvidia", "sm80", "sm90", "sm100", "hopper", "ampere", "blackwell", "capability", "nccl"}
)


@dataclass(frozen=True, slots=True)
class Host:
    """Where code is thought to run; each answer is None where the host does not decide it.

    ``npu`` says that an NPU is the accelerator and its packages are installed, or that neither is so. Unless
    ``tensors``, what a tensor says of itself (``x.is_cuda``) decides nothing on an NPU.
    """

    dialect: Dialect
    npu: bool = False
    cuda: bool | None = None
    tensors: bool = True

    def name(self, name: str) -> bool | None:
        """The truth of a name, by its last part."""
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards:
            return self.npu
        if last == "TYPE_CHECKING":
            return False
        if last in self.dialect.cuda_guards:
            return self.cuda
        return False if self.npu and _speaks_of_cuda(last) else None

    def call(self, name: str, arguments: tuple[object, ...]) -> bool | None:
        """The truth of what a call returns."""
        last = name.rpartition(".")[2]
        if last in self.dialect.npu_guards or (last == "is_available" and ".npu." in f".{name}"):
            return self.npu
        if self.asks_for_cuda(name):
            return self.cuda
        if last in self.dialect.availability_checks and arguments and self.package(arguments[0]) is not None:
            return self.package(arguments[0])
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
        return None

    def attribute(self, label: str) -> bool | None:
        """The truth of an attribute of what is not known, a tensor mostly."""
        if self.is_npu_guard(label):
            return self.npu
        if label.endswith(".is_cuda") and not self.tensors:
            return None
        return False if self.npu and _speaks_of_cuda(label) else None

    def comparison(self, operator: str, left: Condition, right: Condition) -> bool | None:
        """The truth of a comparison of two operands."""
        if operator == "Eq" and right[0] == "const" and right[1] in self.dialect.npu_device_names:
            if self.npu:
                # What the helper gives is the accelerator of the host; another device may be the CPU's.
                return True if self._is_type_of_host(left) else None
            # An implementation for the NPU that a job selects is refused where there is none.
            selected = _label(left).endswith(self.dialect.implementation_suffix)
            return False if selected or _is_device(left) else None
        if operator == "Eq" and right in (("const", "cuda"), ("const", "nccl")):
            return self.cuda
        if operator == "Eq" and self.npu and right[0] == "const" and self._is_type_of_host(left):
            return False
        if operator == "Is" and ("name", "torch.cuda") in (left, right):
            return self.cuda
        if self.npu and operator != "Is" and any(_speaks_of_cuda(_label(one)) for one in (left, right)):
            return False
        if operator == "Is" and right == ("const", None) and left[0] == "call":
            last = left[1].rpartition(".")[2]
            if last in self.dialect.availability_checks and left[2] and left[2][0] in self.dialect.npu_packages:
                return not self.npu
            if last == "getattr" and len(left[2]) >= 2 and left[2][1] == "npu":
                return not self.npu
        if operator == "In" and left[0] == "const" and isinstance(left[1], str):
            if left[1] in self.dialect.npu_packages and right == ("name", "sys.modules"):
                return self.npu
            if left[1] in self.dialect.npu_device_names and _is_device(right):
                return None if self.npu else False
            if left[1] == "cuda":
                return self.cuda
        return None

    def gate(self, name: str) -> bool | None:
        """Whether a decorator that says what it requires lets a function run."""
        last = name.rpartition(".")[2].lower()
        if not any(word in last for word in _REQUIRING_WORDS):
            return None
        if "npu" in last:
            return self.npu
        return False if self.npu and ("cuda" in last or "gpu" in last) else None

    def package(self, name: object) -> bool | None:
        """Whether a package is installed."""
        if name in self.dialect.npu_packages:
            return self.npu
        return False if self.npu and name in self.dialect.gpu_packages else None

    def is_npu_guard(self, label: str) -> bool:
        """Whether an attribute, of whatever object, is one that asks for an NPU: ``self.is_npu``, ``tensor.is_npu``."""
        return "." in label and label.rpartition(".")[2] in self.dialect.npu_guards

    def is_asked_in(self, text: str) -> bool:
        """Whether some code speaks of the accelerator, or of a package that comes with it."""
        guards = (*self.dialect.npu_guards, *self.dialect.cuda_guards, *self.dialect.npu_packages, "cuda.is_available")
        return any(guard in text for guard in guards)

    def asks_for_cuda(self, name: str) -> bool:
        """Whether a name is that of a question for CUDA, which only the host can answer."""
        return name.rpartition(".")[2] in self.dialect.cuda_guards or name.endswith("cuda.is_available")

    def is_of_npu(self, name: str) -> bool:
        """Whether a full name is that of an NPU package, or of something in one."""
        return f"{name}.".startswith(tuple(f"{one}." for one in self.dialect.npu_packages))

    def _is_type_of_host(self, operand: Condition) -> bool:
        """Whether an operand is a call of the helper that names the accelerator."""
        helper = self.dialect.device_helpers.get("type")
        return bool(operand[0] == "call" and str(operand[1]).rpartition(".")[2] == helper)


def _is_device(operand: Condition) -> bool:
    text = _label(operand).lower()
    return any(word in text for word in _DEVICE_WORDS)


def _label(operand: Condition) -> str:
    """The name of an operand, empty where it has none."""
    if operand[:2] == ("call", "str") and operand[2] and isinstance(operand[2][0], tuple):
        return _label(operand[2][0])
    position = {"name": 1, "param": 1, "call": 1, "opaque": 3, "item": 2}.get(operand[0])
    return str(operand[position]) if position is not None and len(operand) > position else ""


def _speaks_of_cuda(name: str) -> bool:
    return bool(_CUDA_WORDS.intersection(name.lower().replace(".", "_").replace("(", "_").split("_")))
