import math, time

from veomni.utils.import_utils import is_torch_npu_available

if is_torch_npu_available():
    import torch_npu


def now():
    return math.floor(time.time())
