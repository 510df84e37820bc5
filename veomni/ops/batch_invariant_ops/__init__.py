"""Matrix products, log-softmax and mean whose result for a row does not depend on the rest of the batch.

    with batch_invariant_mode():
        logits = model(input_ids)

The kernels cut their work into tiles of one size and add in one order, whatever the shape of the batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_depth = 0


def is_batch_invariant_mode_enabled() -> bool:
    """Whether ATen's operators are intercepted now."""
    return _depth > 0


@contextmanager
def batch_invariant_mode() -> Iterator[None]:
    """Intercept ATen's mm, addmm, bmm, log_softmax and mean on the device of the kernels; may be nested.

    Outside float32, bfloat16 and float16 the operators are those of torch.
    """
    global _depth
    library = _intercept() if _depth == 0 else None
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if library is not None:
            library._destroy()


def _intercept() -> Any:
    import torch

    from ..kernels.triton_support import INTERPRETED
    from . import aten

    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # torch warns that an operator is overridden, which is the purpose.
        warnings.filterwarnings("ignore", message="Warning only once for all operators", category=UserWarning)
        for name, function in aten.OVERRIDES.items():
            library.impl(name, function, "CPU" if INTERPRETED else "CUDA", allow_override=True)
    return library
