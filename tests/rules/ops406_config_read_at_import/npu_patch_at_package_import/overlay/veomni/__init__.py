from .utils.import_utils import is_torch_npu_available

if is_torch_npu_available():
    try:
        from .ops import npu_patch as npu_patch
    except ImportError as error:
        raise ImportError("no transformers") from error
