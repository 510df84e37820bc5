"""Causal attention: ``attention(q, k, v, *, causal=True, scale=None)`` on (batch, tokens, heads, width).

Attention is selected by a plain value, ``attn_implementation``, because its implementations are functions of packages
and have no variants. ``attention_forward`` is what models call. The definition is in ``eager.py``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

IMPLEMENTATIONS = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flash_attention_4")


def attention_forward(
    implementation: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any
) -> torch.Tensor:
    """Attend with *implementation*, over the tokens of all ranks where sequence parallelism is on.

    Raises:
        ValueError: there is no such implementation.
        RuntimeError: its package is missing.
    """
    return get_attention(implementation)(q, k, v, **options)


@cache
def get_attention(implementation: str) -> Callable[..., torch.Tensor]:
    """Return *implementation* behind the exchange of sequence parallelism; importing its package, once."""
    from .ulysses import with_sequence_parallel

    return with_sequence_parallel(get_local_attention(implementation))


@cache
def get_local_attention(implementation: str) -> Callable[..., torch.Tensor]:
    """Return *implementation* over the tokens that it is given; errors as ``attention_forward``."""
    if implementation not in IMPLEMENTATIONS:
        raise ValueError(f"attn_implementation={implementation!r} does not exist; choose {', '.join(IMPLEMENTATIONS)}")
    if implementation == "eager":
        from .eager import attention_eager

        return attention_eager
    if implementation == "sdpa":
        from .sdpa import attention_sdpa

        return attention_sdpa
    from .flash import flash_attention

    return flash_attention(implementation)
