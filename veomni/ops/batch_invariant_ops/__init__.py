"""Matrix products, log-softmax and mean whose result for a row does not depend on the rest of the batch.

    with batch_invariant_mode():
        logits = model(input_ids)

The kernels cut their work into tiles of one size and add in one order, whatever the shape of the batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ...utils.device import is_cuda_available

_lock = Lock()
_users = 0
_library: Any = None


def is_batch_invariant_mode_enabled() -> bool:
    """Whether ATen's operators are intercepted now."""
    return _users > 0


@contextmanager
def batch_invariant_mode() -> Iterator[None]:
    """Intercept ATen's products of matrices, log_softmax and mean on the device of the kernels, in every thread.

    They are intercepted, also in place and with ``out``, until the last of those who asked for it leaves. Outside
    float32, bfloat16 and float16 torch computes them, and everywhere what has no rows, such as ``dot``, and other sums.

    Raises:
        RuntimeError: there is no GPU, and kernels are not interpreted.
    """
    global _users, _library
    with _lock:
        if _users == 0:
            _library = _intercept()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _library._destroy()
                _library = None


def _intercept() -> Any:
    import torch

    from ..kernels.triton_support import INTERPRETED
    from . import aten

    if not (INTERPRETED or is_cuda_available()):
        raise RuntimeError("the batch-invariant kernels need a GPU (or TRITON_INTERPRET=1)")
    device = "CPU" if INTERPRETED else "CUDA"
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # torch warns that an operator is overridden, which is the purpose.
        warnings.filterwarnings("ignore", message="Warning only once for all operators", category=UserWarning)
        for name, function in aten.OVERRIDES.items():
            kernel = _with_fallback(function, torch.library.get_kernel(f"aten::{name}", device))
            library.impl(name, kernel, device, with_keyset=True, allow_override=True)
    return library


def _with_fallback(function: Callable[..., Any], original: Any) -> Callable[..., Any]:
    def run(dispatch_keys: Any, *arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        return original.call_boxed(dispatch_keys, *arguments, **options) if result is NotImplemented else result

    return run
