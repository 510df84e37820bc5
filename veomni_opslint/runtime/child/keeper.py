"""A process between opslint and the program: whatever the program starts ends with it, or with opslint."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from .isolate import die_with, no_core_dump
from .watch import descendants

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0
_AGAIN = 0.05


def keep(lifeline: int, pipes: Iterable[int]) -> None:
    """Return in a process of its own, which *pipes* are for, while this one becomes its keeper.

    The keeper ends as that process does, or when *lifeline* closes, which only opslint holds open; before it ends it
    kills all that came from the program. On Linux that includes what has left its session.
    """
    _adopt_orphans()
    no_core_dump()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(lifeline)
        os.setsid()
        die_with(keeper)
        return
    for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(name, signal.SIG_IGN)
    woken = _wake_at_the_end_of_children()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for pipe in pipes:
        os.close(pipe)
    status = _wait(pid, lifeline, woken)
    _end_all(pid, woken)
    _end_like(status)


def _adopt_orphans() -> None:
    """Become the parent of processes whose own parent is gone, instead of the first process of the system."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wake_at_the_end_of_children() -> int:
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _wait(pid: int, lifeline: int, woken: int) -> int | None:
    """The status with which the process ended, None where opslint let go of the lifeline before."""
    while True:
        ended = 1
        while ended:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == pid:
                return status
        if lifeline in _readable(lifeline, woken):
            return None


def _end_all(pid: int, woken: int) -> None:
    """Kill until none is left; one that the system does not let go of is left to it."""
    deadline = time.monotonic() + _PATIENCE
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            for one in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            _readable(woken, woken, _AGAIN)


def _readable(first: int, woken: int, seconds: float | None = None) -> list[int]:
    ready = select.select([first, woken], [], [], seconds)[0]
    if woken in ready:
        with suppress(BlockingIOError):
            os.read(woken, 1 << 12)
    return ready


def _end_like(status: int | None) -> None:
    code = 1 if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)
