import pytest

from veomni.utils.device import IS_NPU_AVAILABLE

pytestmark = [pytest.mark.skipif(not IS_NPU_AVAILABLE, reason="needs an NPU")]


def test_forward():
    assert True
