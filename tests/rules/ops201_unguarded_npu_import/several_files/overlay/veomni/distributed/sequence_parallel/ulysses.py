"""A guard that stands below the import that it has to guard."""

import os

# Registers the NPU as a device of torch.
import torch_npu  # noqa: F401
import torch

from ...utils.device import IS_NPU_AVAILABLE

SIZE = int(os.environ.get("WORLD_SIZE", "1"))


def scale(x):
    return x / SIZE if IS_NPU_AVAILABLE else torch.div(x, SIZE)
