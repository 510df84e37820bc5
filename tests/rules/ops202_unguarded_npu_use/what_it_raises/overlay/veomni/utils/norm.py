import torch

from .device import IS_NPU_AVAILABLE

try:
    import torch_npu
    from torch_npu import npu_rms_norm, npu_swiglu
except ImportError:
    torch_npu = npu_swiglu = None

    def npu_rms_norm(x):
        return x


if IS_NPU_AVAILABLE:
    from torch_npu import npu_rotary


def use(x):
    x = npu_rms_norm(x)
    x = npu_swiglu(x)
    x = npu_rotary(x)
    torch.npu.synchronize()
    return torch_npu.npu_add(x)
