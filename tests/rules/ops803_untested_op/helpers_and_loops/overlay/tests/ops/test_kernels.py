from kernel_cases import NAMES


def test_forward():
    assert NAMES
