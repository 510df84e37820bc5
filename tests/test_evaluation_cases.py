"""Evaluation against known cases: history, one tree, and the registry at run time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evaluation import head, history, registry
from evaluation.opslint_child import OpslintFailedError, Reported, run_json
from evaluation.revisions import MissingInputError, read_cases, tree_of

CASE = {
    "id": "H01-wrong-variant",
    "bad_commit": "a",
    "fix_commit": "b",
    "files": ["pkg/a.py", "pkg/b.py"],
    "lines": {"pkg/a.py": [3, 5], "pkg/b.py": []},
    "expected_finding": "wrong variant",
}


def finding(
    path: str = "pkg/a.py", line: int = 3, code: str = "OPS301", message: str = "m", mark: str = "f"
) -> Reported:
    """One finding."""
    return Reported(path, line, code, message, "error", mark)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([finding()], "ok"),
        ([finding(line=4)], "missed"),
        ([finding("pkg/b.py", 99)], "ok"),
        ([finding("pkg/c.py")], "missed"),
        ([], "missed"),
    ],
)
def test_a_case_is_found_at_its_lines_or_anywhere_in_a_file_without_lines(found: list[Reported], verdict: str) -> None:
    """Other places do not count."""
    assert history.judge(CASE, found, []).verdict == verdict


@pytest.mark.parametrize(
    ("later", "verdict"),
    [
        ([finding(line=30)], "still reported"),
        ([finding(line=30, message="other")], "still reported"),
        ([finding(line=30, mark="g")], "still reported"),
        ([finding(line=30, message="other", mark="g")], "ok"),
        ([finding("pkg/b.py", message="other", mark="g")], "ok"),
    ],
)
def test_a_fixed_case_must_be_silent_whatever_lines_moved(later: list[Reported], verdict: str) -> None:
    """The same fingerprint, or the same message in the same file, is the same finding."""
    assert history.judge(CASE, [finding()], later).verdict == verdict


def test_cases_are_chosen_by_the_beginning_of_their_ids() -> None:
    """H01 is enough."""
    assert history.chosen_cases([CASE, {**CASE, "id": "H02-x"}], "H01") == [CASE]


def test_no_case_left_is_no_success() -> None:
    """A run that would do nothing is refused."""
    with pytest.raises(MissingInputError, match="no case has such an id"):
        history.chosen_cases([CASE], "H99")


@pytest.mark.parametrize("module", [history, registry])
def test_missing_inputs_are_skipped_with_a_message(
    module: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2 and a line that says what is missing."""
    assert module.main(["--repo", str(tmp_path / "gone"), "--cases", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"skipped: no git directory: {tmp_path / 'gone'}\n"


def test_missing_places_are_skipped_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and a line that says what is missing."""
    assert head.main(["--tree", str(tmp_path), "--cases", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"skipped: no such file: {tmp_path / 'head_findings.jsonl'}\n"


def test_places_are_sorted_into_covered_missed_and_broken() -> None:
    """A place is a file and a line."""
    wanted = [head.Place("pkg/a.py", 3, "fault"), head.Place("pkg/a.py", 4, "other fault")]
    silent = [head.Place("pkg/b.py", 1, "no fault"), head.Place("pkg/b.py", 2, "no fault either")]
    alarm = finding("pkg/b.py", 2, "OPS201")
    assert head.compare([finding(), alarm], wanted, silent) == head.Comparison(
        covered=((wanted[0], (finding(),)),),
        missed=(wanted[1],),
        broken=((silent[1], (alarm,)),),
        counts=(("OPS201", "error", 1), ("OPS301", "error", 1)),
    )


def static(**changes: object) -> dict[str, Any]:
    """A static registry with one spec and one slot that is assigned twice."""
    spec = {
        "op_name": "rms_norm", "variant": "standard", "name": "npu", "device_type": "npu",
        "min_compute_capability": None, "max_compute_capability": 90, "factory_file": "pkg/a.py", "factory_line": 7,
    }  # fmt: skip
    slot = {"file": "pkg/g.py", "line": 1, "var": "norm", "source": "generated"}
    embedded = {"file": "pkg/c.py", "line": 1, "var": "norm", "source": "patch_gen_config", "embedded": True}
    return {
        "kernel_specs": [spec], "op_specs": [], "op_slots": [slot, {**slot, "line": 2}, embedded],
        "config_slots": [], "config_fields": [], "unresolved": [], **changes,
    }  # fmt: skip


def truth(**changes: object) -> dict[str, Any]:
    """What run time held for ``static()``."""
    counts = dict.fromkeys(registry.COUNTS, 0) | {"slots_generated": 1}
    row = ["rms_norm", "standard", "npu", "npu", None, 90, "pkg/a.py", 7]
    return {"commit": "abc", "kernel_specs": [row], **counts, **changes}


def test_equal_registries_agree() -> None:
    """A name that is assigned twice counts once, and embedded slots do not count."""
    assert registry.difference(truth(), static()) == registry.Difference("abc", (), (), (), 0)


def test_rows_and_counts_that_differ_are_listed() -> None:
    """Each missing row, each extra row and each count that is wrong."""
    other = ["rms_norm", "standard", "npu", ["gpu", "npu"], None, 90, "pkg/a.py", 8]
    found = registry.difference(truth(kernel_specs=[other], op_specs=4), static(unresolved=[{}]))
    assert found == registry.Difference(
        "abc",
        missing=(("rms_norm", "standard", "npu", ("gpu", "npu"), None, 90, "pkg/a.py", 8),),
        extra=(("rms_norm", "standard", "npu", "npu", None, 90, "pkg/a.py", 7),),
        counts=(("op_specs", 4, 0),),
        unresolved=1,
    )


def test_a_revision_is_unpacked_once(tmp_path: Path) -> None:
    """The second time the kept tree is used, even when the repository is gone."""
    repository = tmp_path / "source"
    repository.mkdir()
    (repository / "a.py").write_text("A = 1\n")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "a.py"], [*identity, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    cache = tmp_path / "cache"
    tree = tree_of(repository / ".git", "HEAD", cache)
    assert (tree / "a.py").read_text() == "A = 1\n"
    assert tree_of(tmp_path / "gone", "HEAD", cache) == tree


def test_an_unknown_commit_is_a_missing_input(tmp_path: Path) -> None:
    """The message names the commit."""
    with pytest.raises(MissingInputError, match="no tree for abc"):
        tree_of(tmp_path, "abc", tmp_path / "cache")


def test_cases_are_read_line_by_line(tmp_path: Path) -> None:
    """Empty lines do not count."""
    (tmp_path / "c.jsonl").write_text('{"id": 1}\n\n{"id": 2}\n')
    assert read_cases(tmp_path / "c.jsonl") == [{"id": 1}, {"id": 2}]


def test_output_of_the_command_is_read_as_json() -> None:
    """Status 1 means findings, which is a run that was made."""
    program = "import json, sys; print(json.dumps({'arguments': sys.argv[1:]})); sys.exit(1)"
    assert run_json([sys.executable, "-c", program], ["check", "x"]) == {"arguments": ["check", "x"]}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('unknown rule')", None),
        ("import sys; print('unknown rule', file=sys.stderr); sys.exit(2)", "exit status 2: unknown rule"),
        ("print('clean')", "the output is no JSON"),
        ("print([])", "the output is no JSON object"),
    ],
)
def test_a_command_that_made_no_run_is_a_failure(program: str, message: str | None) -> None:
    """The reason is the last line that it wrote."""
    with pytest.raises(OpslintFailedError, match=message):
        run_json([sys.executable, "-c", program], [])


def test_report_names_the_codes_that_found_a_case() -> None:
    """One line a case and a sum."""
    outcomes = [history.judge(CASE, [finding()], []), history.judge({**CASE, "id": "H02"}, [], [])]
    assert history.report(outcomes).splitlines() == [
        f"ok              {'H01-wrong-variant':<45} OPS301",
        "missed          H02",
        "    expected: wrong variant",
        "1 of 2 cases found and then silent",
    ]
