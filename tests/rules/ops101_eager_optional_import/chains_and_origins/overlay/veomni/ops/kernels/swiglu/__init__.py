from .gemm import swiglu_gemm  # noqa: F401
