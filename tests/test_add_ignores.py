"""Adopting a tree: what is found now is silenced by comments, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

REASON = "known before"
EXTRA = "veomni/ops/kernels/extra/__init__.py"
CONFIG = "veomni/models/transformers/llama/llama_gpu_patch_gen_config.py"
RULES = ("--select", "OPS101,OPS301,OPS002")
IGNORE = f"# opslint: ignore[eager-optional-import] {REASON}"
SLOTS = f"# opslint: ignore[unregistered-slot] {REASON}"


def adopt(root: Path, *options: str) -> tuple[int, str]:
    """Run ``--add-ignores``; its status, and what it says beside the report."""
    outcome = opslint("veomni", "--add-ignores", REASON, *RULES, *options, cwd=root)
    return outcome.status, outcome.err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import triton\n", f"import triton  {IGNORE}\n"),
        ("import triton", f"import triton  {IGNORE}"),
        ("import triton  # noqa: F401\n", f"import triton  # noqa: F401  {IGNORE}\n"),
        ("import triton, quack\n", f"import triton, quack  {IGNORE}\n"),
        (
            "from liger_kernel.ops import (\n    swiglu,\n)\n",
            f"from liger_kernel.ops import (  {IGNORE}\n    swiglu,\n)\n",
        ),
        ("from liger_kernel.ops \\\n    import swiglu\n", f"from liger_kernel.ops \\\n    import swiglu  {IGNORE}\n"),
        ("T = __import__('triton'), '''\n'''\n", f"T = __import__('triton'), '''\n'''  {IGNORE}\n"),
        (
            "import triton  # opslint: ignore[OPS105] asked for\n",
            "import triton  # opslint: ignore[OPS105, eager-optional-import] asked for\n",
        ),
        (
            "if True:\n    import triton\n    import quack  # why\n",
            f"if True:\n    import triton  {IGNORE}\n    import quack  # why  {IGNORE}\n",
        ),
        ("A = '\u00e9'; import triton\n", f"A = '\u00e9'; import triton  {IGNORE}\n"),
    ],
)
def test_comment_at_a_line(before: str, after: str, tmp_path: Path) -> None:
    """Behind the code of the line, or of the next line of the statement that has room; once per rule."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {EXTRA: before})
    assert adopt(tmp_path, "--strict", "-q") == (0, "")
    assert (tmp_path / EXTRA).read_text(encoding="utf-8") == after


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    """Nothing is left that a second run would silence, and every comment is used."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {EXTRA: "import triton\n"})
    assert adopt(tmp_path, "--strict")[1] == "opslint: note: silenced 1 finding by comments in 1 file\n"
    first = (tmp_path / EXTRA).read_bytes()
    assert adopt(tmp_path, "--strict") == (0, "opslint: note: silenced 0 findings by comments in 0 files\n")
    assert (tmp_path / EXTRA).read_bytes() == first


def test_code_in_a_string(tmp_path: Path) -> None:
    """The string of a patch config stays as it is: the comment stands at the call."""
    write_base_tree(tmp_path)
    block = 'config.add_post_import_block(\n    """\n    veomni_norm = OpSlot("rms_norm", "nowhere")\n    """\n)\n'
    head = "from veomni.patchgen import PatchConfig\n\nconfig = PatchConfig(source_module='x')\n"
    write_files(tmp_path, {CONFIG: head + block})
    assert adopt(tmp_path, "--strict", "-q") == (0, "")
    assert (tmp_path / CONFIG).read_text(encoding="utf-8") == head + block.replace("block(", f"block(  {SLOTS}", 1)


def test_diff_changes_nothing(tmp_path: Path) -> None:
    """With --diff the comments are only shown, and the status is that of the files as they are."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {EXTRA: "import triton\n"})
    outcome = opslint("veomni", "--add-ignores", REASON, "--diff", *RULES, cwd=tmp_path)
    assert outcome.status == 1
    assert outcome.out == f"--- a/{EXTRA}\n+++ b/{EXTRA}\n@@ -1 +1 @@\n-import triton\n+import triton  {IGNORE}\n"
    assert outcome.err == "opslint: note: would silence 1 finding by comments in 1 file\n"
    assert (tmp_path / EXTRA).read_text(encoding="utf-8") == "import triton\n"


def test_accepted_findings_need_no_comment(tmp_path: Path) -> None:
    """What the baseline accepts is not silenced a second time, and it is said that there is something."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {EXTRA: "import triton\n"})
    accepted = ("--baseline", str(tmp_path / "b.txt"))
    assert opslint("veomni", *accepted, "--write-baseline", "-q", *RULES, cwd=tmp_path).status == 0
    outcome = opslint("veomni", "--add-ignores", REASON, "--diff", *accepted, *RULES, cwd=tmp_path)
    said = "would silence 0 findings by comments in 0 files; 1 more in the baseline need none"
    assert (outcome.status, outcome.out, outcome.err) == (0, "", f"opslint: note: {said}\n")


def test_yaml_takes_no_comment(tmp_path: Path) -> None:
    """A finding in a job's YAML file is left, and the way out is said."""
    write_base_tree(tmp_path)
    (tmp_path / "configs").mkdir()
    source = Path(__file__).parent / "rules/ops602_unknown_config_key/moved_keys/overlay"
    for name in ("tasks/train.py", "veomni/arguments/job.py", "configs/job.yaml"):
        write_files(tmp_path, {name: (source / name).read_text(encoding="utf-8")})
    before = (tmp_path / "configs/job.yaml").read_bytes()
    outcome = opslint(".", "--add-ignores", REASON, "--select", "OPS602", cwd=tmp_path)
    assert outcome.status == 1
    assert outcome.err.endswith(
        "opslint: note: what is left stands in files that take no comment: use `per-file-ignores` or a baseline\n"
    )
    assert (tmp_path / "configs/job.yaml").read_bytes() == before


@pytest.mark.parametrize("reason", ["", "  ", "one\ntwo", "see #12"])
def test_reason_that_no_comment_can_hold(reason: str, tmp_path: Path) -> None:
    """A reason that would be cut off, or is none, is refused before anything is changed."""
    write_base_tree(tmp_path)
    outcome = opslint("veomni", "--add-ignores", reason, cwd=tmp_path)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == (
        "opslint: error: --add-ignores: the reason is one line of text without `#`, so that it can stand in a comment\n"
    )


def test_required_reason(tmp_path: Path) -> None:
    """A suppression without one silences nothing; one with a reason does, and those that are added have one."""
    write_base_tree(tmp_path)
    write_files(
        tmp_path,
        {
            "opslint.toml": "require-reason = true\n",
            EXTRA: (
                "import triton  # opslint: ignore[OPS101]\n"
                "import quack  # noqa: OPS101\n"
                "import tilelang  # noqa\n"
                "import fla  # opslint: ignore[OPS101] always installed here\n"
                "import os  # noqa: F401\n"
            ),
        },
    )
    outcome = opslint("veomni", "--output-format", "concise", "-q", *RULES, cwd=tmp_path)
    found = [tuple(line.split()[:3]) for line in outcome.out.splitlines()]
    assert found == [
        (f"{EXTRA}:1:1:", "error", "OPS101"),
        (f"{EXTRA}:1:16:", "warning", "OPS002"),
        (f"{EXTRA}:2:1:", "error", "OPS101"),
        (f"{EXTRA}:2:15:", "warning", "OPS002"),
        (f"{EXTRA}:3:1:", "error", "OPS101"),
    ]
    assert outcome.out.splitlines()[1].endswith(
        "the suppression of OPS101 gives no reason, so it suppresses nothing: `require-reason` is set; "
        "say why the finding is right to stay"
    )
