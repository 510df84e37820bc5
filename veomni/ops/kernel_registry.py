"""The registry of optimized kernels: which implementations exist for an (op, variant) and what each one needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..utils.device import IS_NPU_AVAILABLE, get_gpu_compute_capability, is_cuda_available
from ..utils.import_utils import PackageRequirement

EAGER = "eager"
"""The name that stands for the model's own PyTorch code. Never registered."""

_DEVICE_TYPES = ("gpu", "npu", "any")


class UnknownKernelError(KeyError):
    """No kernel of that name is registered for the (op, variant)."""

    def __str__(self) -> str:
        return str(self.args[0])


class KernelUnavailableError(RuntimeError):
    """The kernel is registered, but this machine lacks the hardware or a package that it needs."""


@dataclass(frozen=True)
class HardwareRequirement:
    """The hardware that a kernel runs on. Capabilities are inclusive bounds such as 80 or 90, for GPUs only.

    Raises:
        ValueError: the requirement could never hold.
    """

    device_type: str
    min_compute_capability: int | None = None
    max_compute_capability: int | None = None

    def __post_init__(self) -> None:
        low, high = self.min_compute_capability, self.max_compute_capability
        if self.device_type not in _DEVICE_TYPES:
            raise ValueError(f"device_type is one of {', '.join(_DEVICE_TYPES)}, not {self.device_type!r}")
        if self.device_type != "gpu" and (low is not None or high is not None):
            raise ValueError(f"a compute capability means nothing for device_type {self.device_type!r}")
        if low is not None and high is not None and low > high:
            raise ValueError(f"min_compute_capability {low} is above max_compute_capability {high}")

    def is_satisfied(self) -> bool:
        """Whether the hardware of this process meets the requirement."""
        if self.device_type == "any":
            return True
        if self.device_type == "npu":
            return IS_NPU_AVAILABLE
        if not is_cuda_available():
            return False
        capability = get_gpu_compute_capability()
        low, high = self.min_compute_capability, self.max_compute_capability
        return (low is None or capability >= low) and (high is None or capability <= high)

    def __str__(self) -> str:
        parts = [self.device_type]
        if self.min_compute_capability is not None:
            parts.append(f"compute capability >= {self.min_compute_capability}")
        if self.max_compute_capability is not None:
            parts.append(f"compute capability <= {self.max_compute_capability}")
        return ", ".join(parts)


@dataclass(frozen=True)
class KernelSpec:
    """One implementation of an op.

    ``(op_name, variant)`` is the slot that it fits and ``name`` the value of the config field that selects it.
    ``factory`` takes no arguments, imports what the kernel depends on and returns the kernel. ``requires`` are the
    packages, and their versions, that the kernel is known to be right with.
    """

    name: str
    op_name: str
    variant: str
    factory: Callable[[], Callable[..., Any]]
    hardware: HardwareRequirement
    description: str = ""
    requires: tuple[PackageRequirement, ...] = ()


class KernelRegistry:
    """All kernel specs, by (op, variant) and name."""

    def __init__(self) -> None:
        self._specs: dict[tuple[str, str], dict[str, KernelSpec]] = {}

    def register(self, spec: KernelSpec, force: bool = False) -> None:
        """Add *spec*. With ``force`` it may take the place of one already there, as out-of-tree kernels do.

        Raises:
            ValueError: the name is taken, or is the reserved name ``eager``.
        """
        if spec.name == EAGER:
            raise ValueError(f"{EAGER!r} means the model's own code and cannot be registered")
        specs = self._specs.setdefault((spec.op_name, spec.variant), {})
        if spec.name in specs and not force:
            raise ValueError(f"{spec.op_name}/{spec.variant} already has a kernel {spec.name!r}")
        specs[spec.name] = spec

    def resolve(self, op_name: str, variant: str, name: str) -> Callable[..., Any] | None:
        """Return the kernel *name* of (op, variant); None for ``eager``.

        Raises:
            UnknownKernelError: nothing of that name is registered there.
            KernelUnavailableError: the hardware or a required package is missing on this machine.
        """
        if name == EAGER:
            return None
        specs = self._specs.get((op_name, variant), {})
        if name not in specs:
            known = ", ".join([EAGER, *sorted(specs)])
            raise UnknownKernelError(f"{op_name}/{variant} has no kernel {name!r}; there are: {known}")
        spec = specs[name]
        reason = unavailable(spec.hardware, spec.requires)
        if reason is not None:
            raise KernelUnavailableError(f"kernel {name!r} of {op_name}/{variant} cannot be used: {reason}")
        return spec.factory()

    def list_available(self, op_name: str, variant: str) -> list[str]:
        """The names registered for (op, variant), whether or not this machine can run them."""
        return list(self._specs.get((op_name, variant), {}))

    def list_usable(self, op_name: str, variant: str) -> list[str]:
        """What this machine can run for (op, variant): ``eager``, and the kernels whose requirements hold."""
        specs = self._specs.get((op_name, variant), {}).values()
        return [EAGER, *(spec.name for spec in specs if unavailable(spec.hardware, spec.requires) is None)]

    def specs(self) -> list[KernelSpec]:
        """Every spec, in the order of registration of its slot."""
        return [spec for specs in self._specs.values() for spec in specs.values()]


def unavailable(hardware: HardwareRequirement, packages: tuple[PackageRequirement, ...]) -> str | None:
    """Say what this machine lacks of *hardware* and *packages*, or None when it has all."""
    if not hardware.is_satisfied():
        return f"it needs {hardware}, which this machine does not have"
    return next((problem for package in packages if (problem := package.problem()) is not None), None)


KERNEL_REGISTRY = KernelRegistry()
