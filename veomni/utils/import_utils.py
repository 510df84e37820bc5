"""Which optional packages this machine has, found without importing them where that is possible."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class PackageRequirement:
    """An optional package that a kernel needs: its module, its distribution and the versions that are known to work.

    ``attribute`` is one that the module must really have. ``find_spec`` alone is not enough: flash-attn 4 installs a
    namespace package ``flash_attn`` that holds nothing of flash-attn 2. ``min_version`` is inclusive, ``below`` is not.
    """

    module: str
    distribution: str | None = None
    attribute: str | None = None
    min_version: str | None = None
    below: str | None = None

    def problem(self) -> str | None:
        """Say why the requirement does not hold, or None when it does. Imports the module if ``attribute`` is set."""
        if not is_package_available(self.module):
            return f"{self.module} is not installed"
        if self.min_version is not None or self.below is not None:
            found = package_version(self.distribution or self.module)
            if found is None:
                return f"the version of {self.distribution or self.module} cannot be read"
            if self.min_version is not None and parse_version(found) < parse_version(self.min_version):
                return f"{self.distribution or self.module} is {found}, at least {self.min_version} is needed"
            if self.below is not None and parse_version(found) >= parse_version(self.below):
                return f"{self.distribution or self.module} is {found}, a version below {self.below} is needed"
        if self.attribute is not None:
            try:
                module = importlib.import_module(self.module)
            except (ImportError, OSError, RuntimeError) as error:
                return f"{self.module} cannot be imported: {error}"
            if not hasattr(module, self.attribute):
                return f"{self.module} has no {self.attribute}"
        return None


def is_package_available(name: str) -> bool:
    """Whether a module *name* can be found; it is not imported, but the packages above it are."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, OSError, RuntimeError):
        # A package that fails on this machine, as some do without a GPU, is not available here.
        return False


def package_version(distribution: str) -> str | None:
    """The installed version of *distribution*, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def parse_version(text: str) -> tuple[int, ...]:
    """The numeric release part of a version: ``"3.6.0+git1"`` gives ``(3, 6)``, so that 3.6 and 3.6.0 are equal."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", text)
    numbers = [int(part) for part in match[1].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@lru_cache(maxsize=1)
def is_torch_npu_available() -> bool:
    """Whether torch_npu is installed and sees an Ascend device.

    A torch_npu wheel without its CANN driver makes ``import torch`` itself fail; such a machine has no NPU.
    """
    if not is_package_available("torch_npu"):
        return False
    try:
        import torch
        import torch_npu  # noqa: F401  registers torch.npu
    except (ImportError, OSError, RuntimeError):
        return False
    return bool(getattr(torch, "npu", None) is not None and torch.npu.is_available())
