"""The option of OPS205 that names files which may use CUDA."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.projects import places, run_rule, write_base_tree, write_files

from veomni_opslint.errors import RunError

FILE = "veomni/trainer/memory.py"
CODE = "import torch\n\n\ndef peak():\n    return torch.cuda.max_memory_allocated()\n"


def _project(root: Path, settings: str) -> None:
    write_base_tree(root)
    write_files(root, {FILE: CODE, "opslint.toml": f"[rules.device-specific-call]\n{settings}\n"})


def test_exempt_file(tmp_path: Path) -> None:
    """A file that the option lists with a reason is silent, and no other file with it."""
    _project(tmp_path, 'exempt = [{path = "veomni/trainer/*.py", reason = "reads what only NVIDIA has"}]')
    write_files(tmp_path, {"veomni/utils/memory.py": CODE})
    assert places(run_rule(tmp_path, "OPS205")) == Counter({("veomni/utils/memory.py", 5, "OPS205"): 1})


def test_exempt_without_a_reason(tmp_path: Path) -> None:
    """An entry without a reason ends the run with a message that shows how one is written."""
    _project(tmp_path, f'exempt = [{{path = "{FILE}"}}]')
    with pytest.raises(RunError) as raised:
        run_rule(tmp_path, "OPS205")
    assert str(raised.value) == (
        "rules.device-specific-call.exempt: every entry has to be a table with a `path` and a `reason`, "
        f"as {{path = \"veomni/x.py\", reason = \"…\"}}; not {{'path': '{FILE}'}}"
    )
