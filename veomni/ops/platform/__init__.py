"""What one platform needs and the others do not."""

from __future__ import annotations

from ...utils.device import IS_NPU_AVAILABLE


def apply_platform_patch() -> None:
    """Apply the patches of the platform of this process."""
    if IS_NPU_AVAILABLE:
        from .npu.hccl_premul_sum import apply_hccl_premul_sum_patch

        apply_hccl_premul_sum_patch()
