import pytest

from veomni.distributed.sequence_parallel.op_wrappers import get_op_wrapper


def test_unknown():
    with pytest.raises(KeyError):
        get_op_wrapper("rms_norm", "no_such_variant")


def test_known():
    for variant in ("standard", "fused"):
        assert get_op_wrapper("rms_norm", variant) is not None
