"""No process of a run outlives it, however the run ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from runtime.planted import factory, write_tree

# The one that leaves the session cannot be reached as one of its process group, and neither answers to SIGTERM.
HANG = """\
pipe = os.open({fifo!r}, os.O_WRONLY)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(pipe, b"grandchild\\n")
    os.write(tell, b"x")
    while True:
        signal.pause()
os.read(ready, 1)
os.write(pipe, b"child\\n")
{then}
"""
LOOP = "while True:\n    pass"
PATIENCE = 60.0


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[int]:
    """A pipe with a name, which ends for its reader when no process holds it open any more."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield descriptor
    os.close(descriptor)


def line_of(fifo: int) -> str:
    """The next of what processes wrote, empty when none is left; a failure if neither comes."""
    assert select.select([fifo], [], [], PATIENCE)[0] == [fifo]
    return os.read(fifo, 1 << 12).decode()


def hang(tmp_path: Path, then: str) -> str:
    """Code that starts a process which hangs in a session of its own, and goes on with *then*."""
    return HANG.format(fifo=str(tmp_path / "fifo"), then=then)


def answer_to_interrupts() -> None:
    """What a shell starts in the background ignores interrupts, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(tmp_path: Path, fifo: int, *options: str) -> subprocess.Popen[bytes]:
    """A run on the tree whose processes have come to their hang."""
    command = [sys.executable, "-m", "veomni_opslint", "runtime", str(tmp_path / "tiny"), *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=answer_to_interrupts,  # noqa: PLW1509 - no thread runs here
    )
    seen = ""
    while len(seen.split()) < 2:
        line = line_of(fifo)
        assert line
        seen += line
    assert set(seen.split()) == {"child", "grandchild"}
    return process


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process that left its session is out of reach")
class TestNothingIsLeft:
    """The pipe that they hold ends, and so they have."""

    @pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_after_a_signal_while_a_kernel_hangs(self, sent: signal.Signals, tmp_path: Path, fifo: int) -> None:
        """Whether opslint can still do something about it or not."""
        write_tree(tmp_path, kernels__planted=factory(hang(tmp_path, LOOP)))
        process = started(tmp_path, fifo)
        process.send_signal(sent)
        process.wait(PATIENCE)
        assert line_of(fifo) == ""

    def test_after_a_kill_while_the_package_is_imported(self, tmp_path: Path, fifo: int) -> None:
        """Nothing of the program runs that could watch over it."""
        write_tree(tmp_path, kernels__planted="import os\nimport signal\n" + hang(tmp_path, LOOP))
        process = started(tmp_path, fifo)
        process.kill()
        process.wait(PATIENCE)
        assert line_of(fifo) == ""

    @pytest.mark.parametrize("then", ["return max", "os._exit(3)", LOOP])
    def test_after_a_run_that_ends(self, then: str, tmp_path: Path, fifo: int) -> None:
        """A kernel that resolves, one that crashes and one that hangs leave nothing either."""
        write_tree(tmp_path, kernels__planted=factory(hang(tmp_path, then)))
        process = started(tmp_path, fifo, "--timeout", "1")
        process.wait(PATIENCE)
        assert line_of(fifo) in {"", "grandchild\nchild\n"}
        assert line_of(fifo) == ""
