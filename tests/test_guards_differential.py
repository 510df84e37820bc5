"""Generated guard code, run without an NPU to see which imports are reached, against the verdict of OPS201."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from support import guard_child
from support.guard_programs import INPUTS, GuardProgram
from support.projects import run_rule, write_base_tree, write_files

PROGRAMS = 250
SEED = 20_261_129


def test_verdict_is_what_happens(tmp_path: Path) -> None:
    """Every import at which a run without an NPU fails is reported, and none that no run could come to fail at."""
    assert disagreements(tmp_path, SEED, PROGRAMS) == {}


def disagreements(root: Path, seed: int, count: int) -> dict[str, tuple[list[int], list[int], list[int]]]:
    """For each program where they differ: lines reported, lines that fail, lines that fail once those are mended."""
    write_base_tree(root)
    texts = {
        f"veomni/programs/p{index}.py": GuardProgram(random.Random(f"{seed}-{index}")).text() for index in range(count)
    }
    write_files(root, {**texts, "veomni/programs/__init__.py": "", "veomni/inputs.py": INPUTS})
    truth = _run(root, texts)
    reported: dict[str, set[int]] = {path: set() for path in texts}
    for finding in run_rule(root, "OPS201").findings:
        reported[finding.place.path].add(finding.place.line)
    return {
        path: (sorted(lines), failing, later)
        for path, lines in reported.items()
        for failing, later in [truth[path]]
        if not set(failing) <= lines <= set(later)
    }


def _run(root: Path, texts: dict[str, str]) -> dict[str, tuple[list[int], list[int]]]:
    stub = root / "veomni" / "ops" / "__init__.py"
    content = stub.read_text()
    stub.write_text("")
    (root / "veomni" / "utils" / "device.py").write_text("IS_NPU_AVAILABLE = False\n")
    (root / "veomni" / "utils" / "import_utils.py").write_text("def is_torch_npu_available():\n    return False\n")
    names = [f"{path}={path.removesuffix('.py').replace('/', '.')}" for path in texts]
    done = subprocess.run(
        [sys.executable, guard_child.__file__, str(root), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    stub.write_text(content)
    assert done.returncode == 0, done.stderr
    result: dict[str, tuple[list[int], list[int]]] = json.loads(done.stdout)
    return result
