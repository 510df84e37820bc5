def swiglu_gemm(mlp, x):
    from .triton import swiglu_triton

    return swiglu_triton(mlp, x)
