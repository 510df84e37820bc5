from .kernels import moe
from .kernels.moe import *


def build_ALL_OPS():
    return [("_fused_moe_forward", moe._fused_moe_forward), ("_flash", moe.flash._flash)]
