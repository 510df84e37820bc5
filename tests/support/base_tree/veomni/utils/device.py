from .import_utils import is_torch_npu_available

IS_NPU_AVAILABLE = is_torch_npu_available()


def get_device_type():
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "npu" if IS_NPU_AVAILABLE else "cpu"
