"""A piece of work in a forked process: what it does to itself, or to the memory of the program, stays there."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import signal
import sys
from collections.abc import Callable

from .errors import describe_error
from .watch import Limits, Message, Process, resident_memory

_PR_SET_PDEATHSIG = 1
# A hang is shown where it is, so the stacks are written just before the process is killed.
_STACKS_AT = 0.9

Say = Callable[[Message], None]


def start(key: str, work: Callable[[Say], None], limits: Limits, *, bound_addresses: bool) -> Process:
    """Fork, and call *work* there with the function that sends a message back.

    With *bound_addresses* allocating beyond the limit raises MemoryError; accelerators reserve more than they use, so
    with one only what is resident counts.
    """
    answers, answering = os.pipe()
    output, printing = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    server = os.getpid()
    pid = os.fork()
    if pid:
        os.close(answering)
        os.close(printing)
        return Process(key, pid, answers, output)
    status = 1
    try:
        _settle(server, printing, limits, bound_addresses=bound_addresses)
        run(work, sender(answering))
        status = 0
    finally:
        os._exit(status)


def run(work: Callable[[Say], None], say: Say) -> None:
    """Do *work*; what it raises is told as an ``error``."""
    try:
        work(say)
    except BaseException as error:
        say({"event": "error", "error": describe_error(error)})
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def sender(descriptor: int) -> Say:
    """A function that writes a message to *descriptor*."""

    def say(message: Message) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(descriptor, data) :]

    return say


def _settle(server: int, printing: int, limits: Limits, *, bound_addresses: bool) -> None:
    os.setsid()
    die_with(server)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (printing, 1), (printing, 2)):
        os.dup2(source, target)
    show_stacks_before(limits.seconds)
    no_core_dump()
    if bound_addresses:
        allowed = _address_space() + limits.memory - min(resident_memory(), limits.memory // 2)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.getrlimit(resource.RLIMIT_AS)[1]))


def show_stacks_before(seconds: float) -> None:
    """Write the stacks of all threads when the process crashes, and shortly before it has run for *seconds*."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(seconds * _STACKS_AT)


def die_with(parent: int) -> None:
    """Be killed when *parent*, which forked this process, dies, also if it has died already; on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def no_core_dump() -> None:
    """A crash is an answer here, and needs no file of the size of the program."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _address_space() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
