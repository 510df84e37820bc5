"""Which tensors belong together in the sparse attention of DeepSeek V4."""

from __future__ import annotations

import torch


def check_shapes(q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor) -> None:
    """Refuse what a kernel would read beyond.

    Raises:
        ValueError: *q* and *kv* differ in dtype, batch or width; *sink* or *indices* do not fit *q*.
    """
    batch, tokens, heads, width = q.shape
    if q.dtype != kv.dtype or kv.shape != (batch, kv.shape[1], width):
        raise ValueError(f"queries {q.dtype} {tuple(q.shape)} do not fit keys {kv.dtype} {tuple(kv.shape)}")
    if sink.shape != (heads,) or indices.shape[:-1] != (batch, tokens):
        raise ValueError(f"sink {tuple(sink.shape)} or indices {tuple(indices.shape)} do not fit {tuple(q.shape)}")
