"""The memory of one syntax tree serves the next one."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest

from veomni_opslint.allocator import keep_freed_memory


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is done on other systems")
def test_freed_memory_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both limits of glibc are raised, to values that it accepts."""
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("the C library is not glibc")
    mallopt = ctypes.CDLL(None).mallopt
    accepted = []
    recording = SimpleNamespace(mallopt=lambda *limit: accepted.append((limit, mallopt(*limit))))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: recording)
    keep_freed_memory()
    assert accepted == [((-1, 1 << 30), 1), ((-3, 32 << 20), 1)]


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every library has such a function, and some systems have no library to ask."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    keep_freed_memory()

    def fail(_: object) -> None:
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", fail)
    keep_freed_memory()
