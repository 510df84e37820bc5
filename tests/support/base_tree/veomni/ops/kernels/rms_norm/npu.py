import torch_npu


def rms_norm_npu(hidden_states, weight, eps):
    return torch_npu.npu_rms_norm(hidden_states, weight, epsilon=eps)[0]
