"""Halves of the norm."""


class EagerNorm:
    def forward(self, x, weight, eps):
        return x * weight, (x, weight)

    def backward(self, grad, saved):
        x, weight = saved
        return grad * weight, grad * x


class LigerNorm(EagerNorm):
    """Of liger_kernel."""


class NpuNorm(EagerNorm):
    """Of torch_npu."""
