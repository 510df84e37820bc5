"""Processes that answer with lines of JSON: their answers, their output, their time and their memory."""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_TICK = 0.02
_SOON = 0.002
_KEPT_OUTPUT = 20_000
_PAGE = os.sysconf("SC_PAGE_SIZE")

Message = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """How long a process may stay silent, at its start and after its first message, and how much memory it may take.

    Where *parent* is given, it may go on only as long as this process is a child of that one.
    """

    first_seconds: float
    seconds: float
    memory: int
    parent: int | None = None


@dataclass(frozen=True)
class Ending:
    """How a process ended: ``done``, ``exit`` (status not 0), ``signal``, ``timeout``, ``memory`` or ``orphan``."""

    kind: str
    detail: str = ""


class Process:
    """A process that leads a session of its own, its pipe of answers and the pipe of what it prints.

    One with a *lifeline* has a keeper, which ends it and all that it started when that is closed.
    """

    def __init__(self, key: str, pid: int, answers: int, output: int, lifeline: int | None = None) -> None:
        self.key = key
        self.pid = pid
        self._lifeline = lifeline
        self.deadline = 0.0
        self.printed = b""
        self._pipes = {"answers": answers, "output": output}
        self._answers = b""
        self._killed: Ending | None = None

    @property
    def output(self) -> str:
        """The end of what it printed."""
        return self.printed.decode("utf-8", "replace")

    @property
    def pipes(self) -> list[tuple[str, int]]:
        """Those that are open, by name."""
        return list(self._pipes.items())

    def read(self, name: str) -> Iterator[Message]:
        """What came through a pipe; a pipe that has ended is closed."""
        descriptor = self._pipes[name]
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            os.close(self._pipes.pop(name))
        elif name == "output":
            self.printed = (self.printed + data)[-_KEPT_OUTPUT:]
        else:
            *lines, self._answers = (self._answers + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message

    def drain(self) -> Iterator[Message]:
        """What is left in the pipes once the process is gone; its own children may still hold them."""
        for name, descriptor in self.pipes:
            os.set_blocking(descriptor, False)
            before = -1
            while name in self._pipes and before != len(self.printed) + len(self._answers):
                before = len(self.printed) + len(self._answers)
                yield from self.read(name)
            if name in self._pipes:
                os.close(self._pipes.pop(name))

    def ended(self) -> Ending | None:
        """How it ended, None while it runs."""
        with suppress(ChildProcessError):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == 0:
                return None
            self._end_group()
            code = os.waitstatus_to_exitcode(status)
            if self._killed is not None:
                return self._killed
            if code < 0:
                return Ending("signal", signal.Signals(-code).name if -code in set(signal.Signals) else str(-code))
            return Ending("done") if code == 0 else Ending("exit", str(code))
        return Ending("done")

    def kill(self, reason: Ending | None) -> None:
        """End it and whatever it started."""
        self._killed = reason
        if self._lifeline is None:
            for pid in (*descendants(self.pid), self.pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        self._end_group()

    def _end_group(self) -> None:
        """What is left of its process group, which a keeper sees to itself."""
        if self._lifeline is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        elif self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def check(self, limits: Limits, now: float) -> None:
        """Kill it if it is over a limit."""
        if self._killed is not None:
            return
        if now > self.deadline:
            self.kill(Ending("timeout"))
        elif limits.parent is not None and os.getppid() != limits.parent:
            self.kill(Ending("orphan"))
        elif _resident(self.pid) > limits.memory:
            self.kill(Ending("memory"))


def watch(
    starts: Iterable[Callable[[], Process]], jobs: int, limits: Limits
) -> Iterator[tuple[Process, Message | Ending]]:
    """Run the processes, *jobs* at a time: each message as it comes, and last how the process ended.

    Whatever happens to the caller, no process is left.
    """
    waiting = deque(starts)
    running: dict[int, Process] = {}
    # Not epoll: it goes on telling of a closed pipe whose other copies forked processes hold, by its reused number.
    selector = selectors.PollSelector()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                process = waiting.popleft()()
                process.deadline = time.monotonic() + limits.first_seconds
                running[process.pid] = process
                for name, descriptor in process.pipes:
                    selector.register(descriptor, selectors.EVENT_READ, (process, name))
            tick = _TICK if all(process.pipes for process in running.values()) else _SOON
            for key, _ in selector.select(tick):
                process, name = key.data
                for message in process.read(name):
                    process.deadline = time.monotonic() + limits.seconds
                    yield process, message
                if name not in dict(process.pipes):
                    selector.unregister(key.fd)
            for process in list(running.values()):
                ending = process.ended()
                if ending is None:
                    process.check(limits, time.monotonic())
                    continue
                for _, descriptor in process.pipes:
                    selector.unregister(descriptor)
                for message in process.drain():
                    yield process, message
                del running[process.pid]
                yield process, ending
    finally:
        selector.close()
        for process in running.values():
            process.kill(None)
            with suppress(ChildProcessError):
                os.waitpid(process.pid, 0)
            for _, descriptor in process.pipes:
                os.close(descriptor)


def resident_memory() -> int:
    """The memory of this process in bytes; 0 where the system does not say."""
    return _own(os.getpid())


def _resident(pid: int) -> int:
    """The memory of a process and of those that it started."""
    return _own(pid) + sum(_own(one) for one in descendants(pid))


def descendants(pid: int) -> list[int]:
    """The processes that *pid* started, and those that they started; none where the system does not say."""
    found: list[int] = []
    with suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for child in map(int, file.read().split()):
            found += (child, *descendants(child))
    return found


def _own(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0
