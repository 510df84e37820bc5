from dataclasses import dataclass, field

_NPU_ALLOWED = {"rms_norm_implementation": frozenset({"npu"}), "swiglu_mlp_implementation": frozenset()}
_NPU_DEFAULT_FALLBACK = {"rms_norm_implementation": "npu"}


@dataclass
class OpsImplementationConfig:
    rms_norm_implementation: str = field(default="liger_kernel")
    swiglu_mlp_implementation: str = field(default="triton")
    conv_implementation: str = field(default="fla")
    delta_implementation: str = field(default="fla")
