"""A diffusion transformer of the Wan kind: patches of a video, modulated by the time of the diffusion."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ....ops.dispatch import OpsConfigSlot
from ....ops.kernels.attention import attention_forward
from .configuration_wan import WanConfig

veomni_attention = OpsConfigSlot("attn_implementation", default="sdpa")


class WanRMSNorm(nn.Module):
    """Root mean square normalisation of the last dimension; ``device_patch.py`` may replace its forward."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * normalised.to(hidden_states.dtype)


def rope_apply(x: torch.Tensor, freqs: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Multiply neighbouring pairs by complex frequencies; ``device_patch.py`` may replace this function."""
    pairs = x.to(freqs.real.dtype).unflatten(-1, (num_heads, -1, 2))
    return torch.view_as_real(torch.view_as_complex(pairs) * freqs).flatten(2).to(x.dtype)


class WanSelfAttention(nn.Module):
    """Attention of every patch to every patch."""

    def __init__(self, config: WanConfig) -> None:
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.q, self.k, self.v, self.o = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(4))
        self.norm_q = WanRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.norm_k = WanRMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: torch.Tensor, freqs: torch.Tensor) -> torch.Tensor:
        q = rope_apply(self.norm_q(self.q(x)), freqs, self.num_heads)
        k = rope_apply(self.norm_k(self.k(x)), freqs, self.num_heads)
        q, k, v = (part.unflatten(-1, (self.num_heads, -1)) for part in (q, k, self.v(x)))
        return self.o(attention_forward(veomni_attention.value, q, k, v, causal=False).flatten(2))


class WanBlock(nn.Module):
    """Attention and feed-forward, shifted, scaled and gated by the time."""

    def __init__(self, config: WanConfig) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(config.hidden_size, elementwise_affine=False) for _ in range(2))
        self.attention = WanSelfAttention(config)
        self.up = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size)
        self.modulation = nn.Parameter(torch.randn(6, config.hidden_size) * config.hidden_size**-0.5)

    def forward(self, x: torch.Tensor, freqs: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = (self.modulation + time[:, None]).unsqueeze(2).unbind(1)
        x = x + gate * self.attention(self.norms[0](x) * (1 + scale) + shift, freqs)
        hidden = functional.gelu(self.up(self.norms[1](x) * (1 + mlp_scale) + mlp_shift), approximate="tanh")
        return x + mlp_gate * self.down(hidden)


class WanModel(nn.Module):
    """From a noisy video (batch, channels, frames, height, width) and a time (batch) to the predicted velocity."""

    def __init__(self, config: WanConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embedding = nn.Linear(config.in_channels * 4, config.hidden_size)
        self.time_embedding = nn.Linear(config.hidden_size, config.hidden_size)
        self.blocks = nn.ModuleList(WanBlock(config) for _ in range(config.num_hidden_layers))
        self.head = nn.Linear(config.hidden_size, config.in_channels * 4)

    def forward(self, video: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        batch, channels, frames, height, width = video.shape
        grid = frames, height // 2, width // 2
        cut = video.view(batch, channels, frames, grid[1], 2, grid[2], 2)
        x = self.patch_embedding(cut.permute(0, 2, 3, 5, 1, 4, 6).reshape(batch, -1, channels * 4))
        embedded = self.time_embedding(self.embed_time(time).to(x.dtype))
        freqs = self.frequencies(grid, x.device)
        for block in self.blocks:
            x = block(x, freqs, embedded)
        out = self.head(x).view(batch, *grid, channels, 2, 2)
        return out.permute(0, 4, 1, 2, 5, 3, 6).reshape(video.shape)

    def embed_time(self, time: torch.Tensor) -> torch.Tensor:
        """Cosines and sines of the time at all scales."""
        half = self.config.hidden_size // 2
        scales = self.config.rope_theta ** -(torch.arange(half, device=time.device) / half)
        angles = time[:, None].float() * scales
        return torch.cat((angles.cos(), angles.sin()), dim=-1)

    def frequencies(self, grid: tuple[int, int, int], device: torch.device) -> torch.Tensor:
        """Complex frequencies (patches, 1, width / 2): a third of the pairs for each of frame, row and column."""
        pairs = self.config.head_dim // 2
        shares = (pairs - 2 * (pairs // 3), pairs // 3, pairs // 3)
        axes = []
        for axis, (length, share) in enumerate(zip(grid, shares, strict=True)):
            scales = self.config.rope_theta ** -(torch.arange(share, device=device, dtype=torch.float64) / share)
            angles = torch.arange(length, device=device)[:, None] * scales
            shape = [1, 1, 1, share]
            shape[axis] = length
            axes.append(torch.polar(torch.ones_like(angles), angles).view(shape).expand(*grid, share))
        return torch.cat(axes, dim=-1).reshape(-1, 1, pairs)
