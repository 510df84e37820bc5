from dataclasses import dataclass


@dataclass
class OpsImplementationConfig:
    rms_norm_implementation: str = "liger_kernel"
    swiglu_mlp_implementation: str = "triton"
    mhc_implementation: str = "tilelang"
