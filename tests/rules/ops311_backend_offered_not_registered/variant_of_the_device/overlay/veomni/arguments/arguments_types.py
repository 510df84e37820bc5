from dataclasses import dataclass
from typing import Literal, Optional

_NPU_ALLOWED = {"rms_norm_implementation": frozenset({"npu", "triton"}), "swiglu_mlp_implementation": frozenset()}
_NPU_REQUIRED = {"rms_norm_implementation": frozenset({"npu"})}
_NPU_DEFAULT_FALLBACK = {"rms_norm_implementation": "npu", "swiglu_mlp_implementation": "eager"}


@dataclass
class OpsImplementationConfig:
    rms_norm_implementation: Optional[Literal["eager", "liger_kernel", "npu", "triton"]] = "liger_kernel"
    swiglu_mlp_implementation: str = "triton"
