"""The accelerator of this process, so that no other module has to name CUDA or NPU."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .import_utils import is_package_available, is_torch_npu_available

IS_NPU_AVAILABLE = is_torch_npu_available()


@lru_cache(maxsize=1)
def is_cuda_available() -> bool:
    """Whether torch is installed and sees an NVIDIA GPU."""
    if not is_package_available("torch"):
        return False
    import torch

    return torch.cuda.is_available()


def get_device_type() -> str:
    """The torch device type to compute on: ``cuda``, ``npu`` or ``cpu``."""
    if is_cuda_available():
        return "cuda"
    return "npu" if IS_NPU_AVAILABLE else "cpu"


def get_torch_device() -> Any:
    """The namespace of that device in torch, such as ``torch.cuda``."""
    import torch

    return getattr(torch, get_device_type())


def get_dist_comm_backend() -> str:
    """The torch.distributed backend that belongs to that device."""
    return {"cuda": "nccl", "npu": "hccl", "cpu": "gloo"}[get_device_type()]


def get_gpu_compute_capability() -> int:
    """The compute capability of the current GPU as one number (90 for Hopper), 0 without a GPU."""
    if not is_cuda_available():
        return 0
    major, minor = get_torch_device().get_device_capability()
    return int(major) * 10 + int(minor)


def set_device(index: int) -> None:
    """Make device *index* the current one; nothing to do on a CPU."""
    if get_device_type() != "cpu":
        get_torch_device().set_device(index)


def synchronize() -> None:
    """Wait until the device has done all that was asked of it."""
    if get_device_type() != "cpu":
        get_torch_device().synchronize()


def get_multiprocessor_count() -> int:
    """How many programs the device runs at once; a small number without a GPU, where kernels are interpreted."""
    if not is_cuda_available():
        return 2
    return int(get_torch_device().get_device_properties().multi_processor_count)
