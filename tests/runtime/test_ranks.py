"""Ranks that see the same are one group, and the others say in what they differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime.planted import write_tree
from support.command import opslint

from veomni_opslint.runtime.document import Document
from veomni_opslint.runtime.rank_report import rank_lines, render_ranks_json
from veomni_opslint.runtime.ranks import Rank, grouped, this_rank


def document(status: str = "ok", *, seconds: float = 1.0, **packages: str) -> Document:
    """What one rank saw of one kernel."""
    return {
        "environment": {
            "device": "gpu", "devices": ["H200"], "compute_capability": 90, "driver": "580.1", "cuda": "13.0",
            "cann": None, "python": "3.11.7", "platform": "Linux", "problem": "", "packages": packages,
        },
        "import": {"status": "ok", "reason": None, "seconds": seconds},
        "kernels": [
            {
                "op_name": "sum", "variant": "standard", "name": "first", "status": status, "call": None,
                "seconds": seconds,
            }
        ],
        "statuses": {status: 1},
        "findings": [],
        "summary": {"errors": 0, "warnings": 0},
    }  # fmt: skip


def test_groups() -> None:
    """The largest group comes first, times do not count, and the ranks are told apart by what differs."""
    seen = [
        document(torch="2.13"),
        document("missing", torch="2.13"),
        document(torch="2.13", seconds=2.0),
        document(torch="2.12"),
    ]
    groups = grouped([*seen, {"failed": "no such file"}])
    assert [(group.title, group.differs) for group in groups] == [
        ("ranks 0, 2", ()),
        ("rank 1", ("sum/standard `first`: missing instead of ok",)),
        ("rank 3", ("torch: 2.12 instead of 2.13",)),
        ("rank 4", ("run: no such file instead of made",)),
    ]


def test_ranges_of_ranks() -> None:
    """Neighbours are written as a range."""
    seen = [document("missing" if rank in {3, 6} else "ok") for rank in range(8)]
    assert [group.title for group in grouped(seen)] == ["ranks 0-2, 4-5, 7", "ranks 3, 6"]


def test_reports() -> None:
    """Text says that all are equal, or lists the groups; markdown and JSON hold the same."""
    assert list(rank_lines(grouped([document(), document()]), markdown=False)) == [
        "all 2 ranks are equal",
        "  ranks 0-1: gpu: H200: 1 ok",
    ]
    groups = grouped([document(), document("broken")])
    assert list(rank_lines(groups, markdown=True))[2:] == [
        "| rank 0 | gpu: H200 | 1 ok |  |",
        "| rank 1 | gpu: H200 | 1 broken | sum/standard `first`: broken instead of ok |",
    ]
    written = json.loads(render_ranks_json(groups))
    assert (written["world_size"], [group["ranks"] for group in written["groups"]]) == (2, [[0], [1]])


def test_rank_of_this_process() -> None:
    """Only what the launcher sets makes a rank."""
    launched = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "host"}
    assert this_rank(launched) == Rank(5, 8, 1)
    assert this_rank({}) is None
    assert this_rank({**launched, "RANK": "first"}) is None


def test_two_ranks_under_the_launcher(tmp_path: Path) -> None:
    """Torchrun starts two, their reports are gathered, and rank 0 alone prints."""
    pytest.importorskip("torch", reason="the launcher is torch's")
    write_tree(tmp_path)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    done = subprocess.run(
        [*command, "-m", "veomni_opslint", "runtime", str(tmp_path / "tiny"), "--format", "json"],
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        timeout=120,
    )
    written = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr.decode()
    assert [(group["ranks"], group["report"]["statuses"]) for group in written["groups"]] == [
        ([0, 1], {"gated": 1, "ok": 2})
    ]


def test_failure_of_all_ranks_is_a_failure(tmp_path: Path) -> None:
    """A run that no rank could make ends with status 2, as it does alone."""
    pytest.importorskip("torch", reason="the launcher is torch's")
    ranks = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    done = opslint("runtime", str(tmp_path / "nowhere"), **ranks)
    assert (done.status, done.out) == (2, "")
    assert "no such file or folder" in done.err
