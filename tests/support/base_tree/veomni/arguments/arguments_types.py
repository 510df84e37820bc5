from dataclasses import dataclass
from typing import Literal

_NPU_ALLOWED = {
    "rms_norm_implementation": {"eager", "npu"},
    "swiglu_mlp_implementation": {"eager"},
    "attn_implementation": {"eager", "sdpa"},
}
_NPU_REQUIRED = {"rms_norm_implementation": "npu"}
_NPU_DEFAULT_FALLBACK = {"rms_norm_implementation": "npu", "swiglu_mlp_implementation": "eager"}


@dataclass
class OpsImplementationConfig:
    attn_implementation: Literal["eager", "sdpa"] = "sdpa"
    rms_norm_implementation: str = "liger_kernel"
    swiglu_mlp_implementation: str = "triton"
