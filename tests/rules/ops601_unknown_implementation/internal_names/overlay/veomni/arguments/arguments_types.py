from dataclasses import dataclass
from typing import Literal

from ..utils.device import IS_NPU_AVAILABLE

OTHERS = {"eager": "from_module"}


@dataclass
class OpsImplementationConfig:
    attn_implementation: Literal["eager", "sdpa", "flash"] = "sdpa"
    rms_norm_implementation: Literal["eager", "liger_kernel", "npu", "fused"] = "liger_kernel"
    swiglu_mlp_implementation: Literal["eager", "triton"] = "triton"

    def __post_init__(self):
        names = {"flash": "flash_with_sp", 1: "one"}
        if self.attn_implementation in names:
            self.attn_implementation = names[self.attn_implementation]
        if self.rms_norm_implementation == "fused":
            self.rms_norm_implementation = "fused_npu" if IS_NPU_AVAILABLE else "fused_gpu"
        unused = {"eager": "not_given"}
        if self.swiglu_mlp_implementation in unused:
            self.swiglu_mlp_implementation = "triton"
