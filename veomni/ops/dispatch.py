"""Dispatch points of generated modeling files: module-level objects that are bound when a model is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..utils.logging import get_logger
from .kernel_registry import EAGER, KERNEL_REGISTRY

logger = get_logger(__name__)


class OpSlot:
    """The place of one (op, variant) in a modeling module.

    Every model built from the module shares the slot, so an instance that keeps a kernel keeps ``bound_kernel()``.
    Call sites ask ``use_non_eager_impl`` first and fall through to the model's own code.
    """

    def __init__(self, op_name: str, variant: str) -> None:
        self.op_name = op_name
        self.variant = variant
        self._kernel: Callable[..., Any] | None = None
        self._bound_name: str | None = None

    def bind(self, name: str) -> None:
        """Resolve *name* in the registry and use it from now on.

        Raises:
            UnknownKernelError, KernelUnavailableError: as ``KernelRegistry.resolve``; the old binding then stays.
            TypeError: the factory of the kernel returned something that cannot be called.
        """
        kernel = KERNEL_REGISTRY.resolve(self.op_name, self.variant, name)
        if name != EAGER and not callable(kernel):
            raise TypeError(f"the factory of kernel {name!r} of {self.op_name}/{self.variant} returned {kernel!r}")
        if self._bound_name not in (None, name):
            logger.warning(
                "%s/%s changes from %s to %s for every model built from this module",
                self.op_name, self.variant, self._bound_name, name,
            )  # fmt: skip
        self._kernel, self._bound_name = kernel, name

    @property
    def use_non_eager_impl(self) -> bool:
        """Whether a kernel is bound. False when eager was chosen and when nothing was bound yet."""
        return self._kernel is not None

    @property
    def bound_name(self) -> str | None:
        """The implementation that was asked for, None before the first ``bind``."""
        return self._bound_name

    def bound_kernel(self) -> Callable[..., Any] | None:
        """The kernel itself, for instances to keep; None for eager."""
        return self._kernel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._kernel is None:
            raise RuntimeError(f"{self!r} has no kernel; check use_non_eager_impl before calling it")
        return self._kernel(*args, **kwargs)

    def __repr__(self) -> str:
        return f"OpSlot({self.op_name!r}, {self.variant!r}) bound to {self._bound_name or 'nothing'}"


class OpsConfigSlot:
    """The place of one plain value of the ops configuration in a modeling module."""

    def __init__(self, field_name: str, default: str = EAGER) -> None:
        self.field_name = field_name
        self._value = default

    def bind(self, ops_config: object) -> None:
        """Take the value from *ops_config*.

        Raises:
            AttributeError: the configuration has no such field.
        """
        self._value = getattr(ops_config, self.field_name)

    @property
    def value(self) -> str:
        """The value bound last, or the default."""
        return self._value

    def __repr__(self) -> str:
        return f"OpsConfigSlot({self.field_name!r}) = {self._value!r}"
