from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class HardwareRequirement:
    device_type: str
    min_compute_capability: int | None = None
    max_compute_capability: int | None = None


@dataclass(frozen=True)
class KernelSpec:
    name: str
    op_name: str
    variant: str
    factory: Callable[[], Callable[..., Any]]
    hardware: HardwareRequirement
    description: str = ""


class KernelRegistry:
    def __init__(self):
        self._specs = {}

    def register(self, spec, force=False):
        specs = self._specs.setdefault((spec.op_name, spec.variant), {})
        if spec.name in specs and not force:
            raise ValueError(spec.name)
        specs[spec.name] = spec

    def resolve(self, op_name, variant, name):
        return None if name == "eager" else self._specs[op_name, variant][name].factory()


KERNEL_REGISTRY = KernelRegistry()
