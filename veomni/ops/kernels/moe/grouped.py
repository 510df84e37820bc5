"""Experts built from matrix products over groups of rows, whoever computes the products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.nn import functional

from .routing import Routing, route


class GroupedProducts(Protocol):
    """The two products over groups of rows that a backend provides."""

    def rows(self, x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
        """Multiply the rows of each expert by its matrix (experts, in, out), which may be a transposed view."""

    def weights(self, x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
        """For each expert ``x.T @ y`` over its rows: (experts, columns of x, columns of y)."""


Activation = Callable[..., torch.Tensor]
Combine = Callable[[torch.Tensor, Routing], torch.Tensor]


@dataclass(frozen=True)
class ExpertBackend:
    """What the experts are computed with.

    ``activate(gate_up, weights, limit, alpha, interleaved)`` is the weighted activation, ``combine`` the sum of the
    rows of each token.
    """

    products: GroupedProducts
    activate: Activation
    combine: Combine

    def standard(
        self,
        hidden_states: torch.Tensor,
        top_k_index: torch.Tensor,
        top_k_weights: torch.Tensor,
        gate_up_proj: torch.Tensor,
        down_proj: torch.Tensor,
        limit: float | None = None,
    ) -> torch.Tensor:
        """The variant ``standard``; see ``eager.py``.

        Raises:
            ValueError: the choices and their weights do not fit the tokens.
        """
        _check_choices(hidden_states, top_k_index, top_k_weights)
        routing = route(top_k_index, gate_up_proj.shape[0])
        rows = _Permute.apply(hidden_states, routing, self.combine)
        gate_up = _GroupedLinear.apply(rows, gate_up_proj.transpose(1, 2), routing, self.products)
        # Weighting before the second product: its rows are narrower, and its output need not be kept.
        weights = routing.permute_weights(routing.known_weights(top_k_weights))
        hidden = self.activate(gate_up, weights, limit, None, interleaved=False)
        output = _GroupedLinear.apply(hidden, down_proj.transpose(1, 2), routing, self.products)
        return _Combine.apply(output, routing, self.combine)

    def gpt_oss(
        self,
        hidden_states: torch.Tensor,
        top_k_index: torch.Tensor,
        top_k_weights: torch.Tensor,
        gate_up_proj: torch.Tensor,
        gate_up_proj_bias: torch.Tensor,
        down_proj: torch.Tensor,
        down_proj_bias: torch.Tensor,
        alpha: float,
        limit: float,
    ) -> torch.Tensor:
        """The variant ``gpt_oss``; see ``eager.py``. Errors as ``standard``."""
        _check_choices(hidden_states, top_k_index, top_k_weights)
        routing = route(top_k_index, gate_up_proj.shape[0])
        rows = _Permute.apply(hidden_states, routing, self.combine)
        # A last bias, of zeros, for the rows of no expert.
        biases = functional.pad(gate_up_proj_bias, (0, 0, 0, 1))[routing.expert]
        gate_up = _GroupedLinear.apply(rows, gate_up_proj, routing, self.products) + biases
        weights = routing.known_weights(top_k_weights)
        hidden = self.activate(gate_up, routing.permute_weights(weights), limit, alpha, interleaved=True)
        output = _Combine.apply(_GroupedLinear.apply(hidden, down_proj, routing, self.products), routing, self.combine)
        # The weighted biases of a token's experts are one small product, and no row needs them.
        experts = down_proj.shape[0]
        shares = weights.new_zeros(weights.shape[0], experts)
        shares = shares.scatter_add(1, top_k_index.clamp(0, experts - 1), weights)
        return output + shares.to(output.dtype) @ down_proj_bias


def _check_choices(hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor) -> None:
    if top_k_index.shape != top_k_weights.shape or top_k_index.shape[:1] != hidden_states.shape[:1]:
        raise ValueError(
            f"choices {tuple(top_k_index.shape)} with weights {tuple(top_k_weights.shape)} do not fit "
            f"tokens {tuple(hidden_states.shape)}"
        )


class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden_states: torch.Tensor, routing: Routing, combine: Combine) -> torch.Tensor:
        ctx.routing, ctx.combine = routing, combine
        return hidden_states.index_select(0, routing.token)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return ctx.combine(grad, ctx.routing), None, None


class _Combine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, routing: Routing, combine: Combine) -> torch.Tensor:
        ctx.routing = routing
        return combine(rows, routing)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return grad.index_select(0, ctx.routing.token), None, None


class _GroupedLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: torch.Tensor, weight: torch.Tensor, routing: Routing, products: GroupedProducts
    ) -> torch.Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.routing, ctx.products = routing, products
        return products.rows(rows, weight, routing)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        grad = grad.contiguous()
        drows = ctx.products.rows(grad, weight.transpose(1, 2), ctx.routing) if ctx.needs_input_grad[0] else None
        dweight = _weight_gradient(ctx.products, rows, grad, weight, ctx.routing) if ctx.needs_input_grad[1] else None
        return drows, dweight, None, None


def _weight_gradient(
    products: GroupedProducts, rows: torch.Tensor, grad: torch.Tensor, weight: torch.Tensor, routing: Routing
) -> torch.Tensor:
    """The gradient in the layout of the weight itself, or the optimizer would have to transpose it."""
    if weight.is_contiguous():
        return products.weights(rows, grad, routing)
    return products.weights(grad, rows, routing).transpose(1, 2)


def combine_rows(rows: torch.Tensor, routing: Routing) -> torch.Tensor:
    """The sum of the rows of each token, without those of no expert, in plain PyTorch."""
    known = (routing.inverse < routing.ends[-1])[..., None]
    return torch.where(known, rows[routing.inverse].float(), 0.0).sum(1).to(rows.dtype)


def weighted_activation(
    gate_up: torch.Tensor, weights: torch.Tensor, limit: float | None, alpha: float | None, *, interleaved: bool
) -> torch.Tensor:
    """``weights * silu(gate) * up`` with the clamps of *limit*, in plain PyTorch.

    With *alpha* the gate is ``gate * sigmoid(alpha * gate)`` and one is added to the other factor, as in gpt_oss.
    """
    precise = gate_up.float()
    gate, up = (precise[..., ::2], precise[..., 1::2]) if interleaved else precise.chunk(2, dim=-1)
    if limit is not None:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    factor = up if alpha is None else up + 1
    gate = gate * torch.sigmoid(gate if alpha is None else alpha * gate)
    return (weights.float()[:, None] * gate * factor).to(gate_up.dtype)
