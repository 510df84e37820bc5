from .generated.patched_modeling_llama_gpu import veomni_rms_norm, veomni_swiglu_mlp


def fused_norm(x, weight):
    return veomni_rms_norm(x, weight)


def fused_mlp(module, x):
    return veomni_swiglu_mlp(module, x)
