from .kernels import moe, soft_cap
from .kernels.soft_cap import soft_cap_forward

__all__ = [
    "soft_cap_forward",
]


def build_ALL_OPS():
    found = []
    found.append(("_fused_moe_forward", moe._fused_moe_forward))
    return found
