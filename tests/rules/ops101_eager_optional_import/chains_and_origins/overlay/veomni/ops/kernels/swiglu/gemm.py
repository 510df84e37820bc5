from .triton import swiglu_triton


def swiglu_gemm(mlp, x):
    return swiglu_triton(mlp, x)
