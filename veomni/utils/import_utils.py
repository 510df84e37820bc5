"""Which optional packages this machine has, found without importing them where that is possible."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class PackageRequirement:
    """An optional package that a kernel needs: its module, its distribution and the versions that are known to work.

    ``attribute`` is one that the module must really have. ``find_spec`` alone is not enough: flash-attn 4 installs a
    namespace package ``flash_attn`` that holds nothing of flash-attn 2. ``min_version`` is inclusive, ``below`` is not.
    With ``compute_capability`` the requirement holds on GPUs of that capability only (90 is Hopper); where the module
    ``instead`` is installed, it does the work and nothing is required.
    """

    module: str
    distribution: str | None = None
    attribute: str | None = None
    min_version: str | None = None
    below: str | None = None
    compute_capability: int | None = None
    instead: str | None = None

    def problem(self) -> str | None:
        """Say why the requirement does not hold, or None when it does. Imports the module if ``attribute`` is set."""
        if self.instead is not None and is_package_available(self.instead):
            return None
        if self.compute_capability is not None and _compute_capability() != self.compute_capability:
            return None
        problem = self._missing()
        if problem is not None:
            return f"{problem}, or {self.instead}" if self.instead is not None else problem
        if self.attribute is not None:
            try:
                module = importlib.import_module(self.module)
            except (ImportError, OSError, RuntimeError) as error:
                return f"{self.module} cannot be imported: {error}"
            if not hasattr(module, self.attribute):
                return f"{self.module} has no {self.attribute}"
        return None

    def _missing(self) -> str | None:
        if not is_package_available(self.module):
            return f"{self.module} is not installed"
        if self.min_version is None and self.below is None:
            return None
        name = self.distribution or self.module
        found = package_version(name)
        if found is None:
            return f"the version of {name} cannot be read"
        if self.min_version is not None and parse_version(found) < parse_version(self.min_version):
            return f"{name} is {found}, at least {self.min_version} is needed"
        if self.below is not None and parse_version(found) >= parse_version(self.below):
            return f"{name} is {found}, a version below {self.below} is needed"
        return None


def _compute_capability() -> int | None:
    from .device import get_gpu_compute_capability, is_cuda_available

    return get_gpu_compute_capability() if is_cuda_available() else None


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

    A torch_npu wheel without its CANN driver cannot be imported; such a machine has no NPU.
    """
    if not (is_package_available("torch") and is_package_available("torch_npu")):
        return False
    with _no_backend_autoload():
        import torch
    try:
        import torch_npu  # noqa: F401  registers torch.npu
    except (ImportError, OSError, RuntimeError):
        return False
    return bool(getattr(torch, "npu", None) is not None and torch.npu.is_available())


@contextmanager
def _no_backend_autoload() -> Iterator[None]:
    """Keep torch from importing torch_npu while it is imported itself.

    Where that fails, ``import torch`` fails half-way, and no later one in the process can succeed.
    """
    before = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"]
        else:
            os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = before
