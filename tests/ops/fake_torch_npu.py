"""A stand-in for torch_npu that records which kernels are called and computes them in PyTorch."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from types import ModuleType

import torch


class FakeTorchNpu(ModuleType):
    """The functions of torch_npu that the NPU files call, with its signatures."""

    def __init__(self) -> None:
        super().__init__("torch_npu")
        self.__spec__ = ModuleSpec("torch_npu", None)
        self.calls: list[str] = []

    def npu_rms_norm(self, x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> tuple[torch.Tensor, ...]:
        """Output and reciprocal root mean square."""
        self.calls.append("npu_rms_norm")
        rstd = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + epsilon)
        return (x.float() * rstd * gamma.float()).to(x.dtype), rstd

    def npu_rms_norm_backward(
        self, dy: torch.Tensor, x: torch.Tensor, gamma: torch.Tensor, rstd: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of the input and of the weight, which is float32."""
        self.calls.append("npu_rms_norm_backward")
        normalised = x.float() * rstd
        scaled = dy.float() * gamma.float()
        dx = (scaled - normalised * (scaled * normalised).mean(-1, keepdim=True)) * rstd
        return dx.to(x.dtype), (dy.float() * normalised).flatten(0, -2).sum(0)

    def npu_rotary_mul(self, x: torch.Tensor, r1: torch.Tensor, r2: torch.Tensor) -> torch.Tensor:
        """Rotation of whole contiguous rows."""
        assert r1.shape[-1] == x.shape[-1]
        self.calls.append("npu_rotary_mul")
        first, second = x.chunk(2, dim=-1)
        return x * r1 + torch.cat((-second, first), dim=-1) * r2

    def npu_grouped_matmul(
        self,
        x: list[torch.Tensor],
        weight: list[torch.Tensor],
        *,
        group_list: torch.Tensor,
        split_item: int,
        group_type: int,
        group_list_type: int,
    ) -> list[torch.Tensor]:
        """Products over groups of rows (type 0) or of the summed dimension (type 2), given by their sizes.

        What is behind the last group takes part in no product, and its rows are left unwritten.
        """
        assert (split_item, group_type) in {(2, 0), (3, 2)}
        assert group_list_type == 1
        assert group_list.dtype == torch.int64
        self.calls.append(f"npu_grouped_matmul {group_type}")
        sizes = group_list.tolist()
        end = sum(sizes)
        if group_type == 0:
            parts = [part @ w for part, w in zip(x[0][:end].split(sizes), weight[0], strict=True)]
            return [torch.cat([*parts, x[0].new_full((x[0].shape[0] - end, weight[0].shape[2]), float("nan"))])]
        pairs = zip(x[0][:, :end].split(sizes, dim=1), weight[0][:end].split(sizes), strict=True)
        return [torch.stack([a @ b for a, b in pairs])]
