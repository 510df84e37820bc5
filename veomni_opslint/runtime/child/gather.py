"""Bringing what each rank saw to rank 0, through torch.distributed, on the store of the launcher."""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta

from .isolate import Say, run, sender

# Ranks resolve kernels at their own pace, and those with a hang wait for its time limit.
_PATIENCE = timedelta(hours=1)


def run_from_command_line() -> None:
    """The two descriptors are the last arguments."""
    with open(int(sys.argv[-2]), encoding="utf-8") as file:
        document = json.load(file)
    run(lambda say: _gather(document, say), sender(int(sys.argv[-1])))
    os._exit(0)


def _gather(document: object, say: Say) -> None:
    from torch import distributed

    # gloo, because every build of torch has it and it leaves the accelerators alone.
    distributed.init_process_group("gloo", timeout=_PATIENCE)
    first = distributed.get_rank() == 0
    gathered: list[object] | None = [None] * distributed.get_world_size() if first else None
    distributed.gather_object(document, gathered)
    if first:
        say({"event": "gathered", "documents": gathered})
    distributed.barrier()
    distributed.destroy_process_group()
