"""Ulysses with the exchange hidden behind the projections: what is projected first travels while the next is computed.

That needs the projections, the norms and the rotation in one ``autograd.Function`` whose backward interleaves them
with the exchange too, so the ops come from ``op_wrappers``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed
from torch.distributed import ProcessGroup
from torch.nn import functional

from ...ops.kernels.attention import get_local_attention
from ..parallel_state import get_parallel_state
from .op_wrappers import OpWrapper, get_op_wrapper
from .ulysses import PendingExchange, key_head_copies, start_exchange

_TOKENS, _HEADS = 1, 2


@dataclass(frozen=True)
class _Plan:
    """What does not change from one layer to the next. ``copies`` is how often each key head is sent."""

    group: ProcessGroup
    rms_norm: OpWrapper
    rotary: OpWrapper
    head_dim: int
    copies: int
    eps: float


def async_ulysses_attention(
    attention: Any, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, implementation: str
) -> torch.Tensor:
    """Compute the module *attention* over the tokens of all ranks; *hidden_states*, *cos* and *sin* are those here.

    The module has ``q_proj``, ``k_proj``, ``v_proj`` and ``o_proj`` without bias, ``q_norm`` and ``k_norm``.

    Raises:
        ValueError: the heads cannot be divided among the ranks, or there are no ranks to divide them among.
    """
    group = get_parallel_state().sp_group
    if group is None:
        raise ValueError("async Ulysses needs a sequence-parallel group")
    query_heads, key_heads = (x.weight.shape[0] // attention.head_dim for x in (attention.q_proj, attention.k_proj))
    plan = _Plan(
        group=group,
        rms_norm=get_op_wrapper("rms_norm"),
        rotary=get_op_wrapper("rotary_pos_emb"),
        head_dim=attention.head_dim,
        copies=key_head_copies(query_heads, key_heads, distributed.get_world_size(group)),
        eps=attention.q_norm.variance_epsilon,
    )
    q, k, v = _QkvProjection.apply(
        hidden_states,
        attention.q_proj.weight,
        attention.k_proj.weight,
        attention.v_proj.weight,
        attention.q_norm.weight,
        attention.k_norm.weight,
        cos,
        sin,
        plan,
    )
    return _OutputProjection.apply(get_local_attention(implementation)(q, k, v), attention.o_proj.weight, group)


class _QkvProjection(torch.autograd.Function):
    """Project, exchange tokens for heads, normalise and rotate: (batch, all tokens, heads of this rank, width)."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden_states: torch.Tensor,
        q_weight: torch.Tensor,
        k_weight: torch.Tensor,
        v_weight: torch.Tensor,
        q_norm_weight: torch.Tensor,
        k_norm_weight: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        plan: _Plan,
    ) -> tuple[torch.Tensor, ...]:
        pending = [
            _start(functional.linear(hidden_states, weight), copies, plan)
            for weight, copies in ((q_weight, 1), (k_weight, plan.copies), (v_weight, plan.copies))
        ]
        cos, sin = _all_tokens(cos, plan.group), _all_tokens(sin, plan.group)
        q, ctx.q_saved = plan.rms_norm.forward(pending[0].wait(), q_norm_weight, plan.eps)
        k, ctx.k_saved = plan.rms_norm.forward(pending[1].wait(), k_norm_weight, plan.eps)
        (q, k), ctx.rotary_saved = plan.rotary.forward(q, k, cos, sin, _HEADS)
        ctx.save_for_backward(hidden_states, q_weight, k_weight, v_weight)
        ctx.plan = plan
        return q, k, pending[2].wait()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dq: torch.Tensor, dk: torch.Tensor, dv: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        hidden_states, q_weight, k_weight, v_weight = ctx.saved_tensors
        plan = ctx.plan
        v_pending = start_exchange(dv, _TOKENS, _HEADS, plan.group)
        dq, dk = plan.rotary.backward((dq, dk), ctx.rotary_saved)
        dq, dq_norm = plan.rms_norm.backward(dq, ctx.q_saved)
        q_pending = start_exchange(dq, _TOKENS, _HEADS, plan.group)
        dk, dk_norm = plan.rms_norm.backward(dk, ctx.k_saved)
        k_pending = start_exchange(dk, _TOKENS, _HEADS, plan.group)
        dhidden = torch.zeros_like(hidden_states)
        gradients = {}
        # In the order in which they were sent.
        for name, pending, weight, copies in (
            ("v", v_pending, v_weight, plan.copies),
            ("q", q_pending, q_weight, 1),
            ("k", k_pending, k_weight, plan.copies),
        ):
            grad = _finish(pending, copies)
            dhidden = dhidden + grad @ weight
            gradients[name] = grad.flatten(0, 1).t() @ hidden_states.flatten(0, 1)
        return dhidden, gradients["q"], gradients["k"], gradients["v"], dq_norm, dk_norm, None, None, None


class _OutputProjection(torch.autograd.Function):
    """Exchange heads for tokens and project; in backward the weight's gradient is made while the heads travel."""

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor, weight: torch.Tensor, group: ProcessGroup) -> torch.Tensor:
        heads = start_exchange(output, _TOKENS, _HEADS, group).wait()
        ctx.save_for_backward(heads, weight)
        ctx.group = group
        return functional.linear(heads.flatten(2), weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        heads, weight = ctx.saved_tensors
        pending = start_exchange((grad @ weight).view_as(heads), _HEADS, _TOKENS, ctx.group)
        dweight = grad.flatten(0, 1).t() @ heads.flatten(2).flatten(0, 1)
        return pending.wait(), dweight, None


def _start(projected: torch.Tensor, copies: int, plan: _Plan) -> PendingExchange:
    heads = projected.unflatten(-1, (-1, plan.head_dim))
    return start_exchange(heads.repeat_interleave(copies, dim=_HEADS), _HEADS, _TOKENS, plan.group)


def _finish(pending: PendingExchange, copies: int) -> torch.Tensor:
    """The gradient of the projection: that of a head that was sent several times is the sum."""
    heads = pending.wait()
    return heads.unflatten(_HEADS, (-1, copies)).sum(_HEADS + 1).flatten(_HEADS)


def _all_tokens(angles: torch.Tensor, group: ProcessGroup) -> torch.Tensor:
    parts = [torch.empty_like(angles) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(parts, angles.contiguous(), group=group)
    return torch.cat(parts, dim=_TOKENS)
