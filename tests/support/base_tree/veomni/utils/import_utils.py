from importlib.util import find_spec


def is_package_available(name):
    return find_spec(name) is not None


def is_torch_npu_available():
    if not is_package_available("torch_npu"):
        return False
    import torch

    return torch.npu.is_available()
