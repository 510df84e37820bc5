import torch_npu


def swiglu_npu(mlp, x):
    return torch_npu.npu_swiglu(mlp.up_proj(x))
