"""Evaluation by planted faults: edits, marks, verdicts, and the catalogue itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evaluation.mutations.__main__ import RULES, all_mutations, edited, run_one
from evaluation.mutations.draft import (
    Draft,
    Edit,
    Expected,
    PlantError,
    after,
    append,
    before,
    broken,
    create,
    delete,
    drop,
    gone,
    mark,
    mark_all,
    plant,
    raw,
    swap,
    swap_all,
)
from evaluation.mutations.verdict import Verdict, describe, judge
from evaluation.opslint_child import Reported

FOUNDING = {
    *("OPS001", "OPS002", "OPS003", "OPS101", "OPS102", "OPS103", "OPS104", "OPS105", "OPS106", "OPS107"),
    *("OPS201", "OPS202", "OPS203", "OPS204", "OPS301", "OPS302", "OPS303", "OPS309", "OPS310", "OPS312"),
    *("OPS390", "OPS401", "OPS501", "OPS502", "OPS503", "OPS504", "OPS505"),
}
TEXT = "import a\n\n\ndef f():\n    return a\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of two files."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_text(TEXT)
    (tmp_path / "pkg/b.py").write_text("import a\nimport b\n")
    return tmp_path


def finished(root: Path, *edits: Edit) -> tuple[dict[str, bytes | None], list[Expected]]:
    """What the edits make of the tree."""
    draft = Draft(root)
    for edit in edits:
        edit(draft)
    return draft.finish()


def finding(line: int, code: str = "OPS201", path: str = "pkg/a.py", message: str = "m", mark: str = "") -> Reported:
    """One finding."""
    return Reported(path, line, code, message, "error", mark)


@pytest.mark.parametrize(
    ("edit", "text", "expected"),
    [
        (swap("pkg/a.py", "import a", "import b  # OPS201"), TEXT.replace("import a", "import b"), [("OPS201", 1, 1)]),
        (
            after("pkg/a.py", "def f", "x = 1  # OPS201", indent=4),
            TEXT.replace(":\n", ":\n    x = 1\n"),
            [("OPS201", 5, 5)],
        ),
        (before("pkg/a.py", "def f", "x = 1  # OPS301"), TEXT.replace("def", "x = 1\ndef"), [("OPS301", 4, 4)]),
        (swap_all("pkg/a.py", "a", "b  # OPS101"), TEXT.replace("a", "b"), [("OPS101", 1, 1), ("OPS101", 5, 5)]),
        (drop("pkg/a.py", "import a"), TEXT.replace("import a\n", ""), []),
        (append("pkg/a.py", "x = 1  # OPS301"), TEXT + "\n\nx = 1\n", [("OPS301", 8, 8)]),
        (mark("pkg/a.py", "return a", "OPS101, OPS102"), TEXT, [("OPS101", 5, 5), ("OPS102", 5, 5)]),
    ],
)
def test_an_edit_changes_the_text_and_its_marks_say_what_to_expect(
    tree: Path, edit: Edit, text: str, expected: list[tuple[str, int, int]]
) -> None:
    """Marks do not reach the file, and lines are counted in what does."""
    files, found = finished(tree, edit)
    assert files == {"pkg/a.py": text.encode()}
    assert [(one.code, one.first, one.last) for one in found] == expected


def test_files_are_created_and_deleted(tree: Path) -> None:
    """A deleted file is None."""
    files, _ = finished(tree, create("pkg/c.py", "x = 1"), delete("pkg/a.py"))
    assert files == {"pkg/c.py": b"x = 1\n", "pkg/a.py": None}


def test_every_matching_line_is_marked(tree: Path) -> None:
    """Also in files that no other edit touches."""
    _, found = finished(tree, mark_all("pkg", r"^import a", "OPS101"))
    assert [(one.path, one.first) for one in found] == [("pkg/a.py", 1), ("pkg/b.py", 1)]


def test_files_may_be_no_python_and_no_text(tree: Path) -> None:
    """Said of each such file, for an edit that breaks one by a slip proves nothing."""
    files, found = finished(
        tree,
        broken("pkg/c.py"),
        create("pkg/c.py", "import (  # OPS001"),
        raw("pkg/d.py", b"\xff\n", "OPS003", 2),
        raw("pkg/e.py", b"\xfe"),
    )
    assert files == {"pkg/c.py": b"import (\n", "pkg/d.py": b"\xff\n", "pkg/e.py": b"\xfe"}
    assert found == [Expected("OPS003", "pkg/d.py", 2, 2), Expected("OPS001", "pkg/c.py", 1, 1)]


def test_a_mark_can_allow_the_statement_be_optional_and_share_a_label(tree: Path) -> None:
    """Of a compound statement only the head counts."""
    text = "f(  # OPS302~\n    1,\n)\nif x:  # OPS201?:a, OPS202~\n    y = 1\n"
    _, found = finished(tree, create("pkg/c.py", text))
    assert found == [
        Expected("OPS302", "pkg/c.py", 1, 3),
        Expected("OPS201", "pkg/c.py", 4, 4, optional=True, label="a"),
        Expected("OPS202", "pkg/c.py", 4, 4),
    ]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (swap("pkg/a.py", "import z", ""), "'import z' occurs 0 times"),
        (swap("pkg/a.py", "a", ""), "'a' occurs 2 times"),
        (swap("pkg/a.py", "a", "", nth=2), "'a' occurs only 2 times"),
        (swap("pkg/z.py", "a", ""), "pkg/z.py: no such file"),
        (create("pkg/a.py", ""), "pkg/a.py: there already"),
        (mark_all("pkg", "zzz", "OPS101"), "nothing matches 'zzz'"),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(tree: Path, edit: Edit, message: str) -> None:
    """A mutation that changes nothing would prove nothing."""
    with pytest.raises(PlantError, match=message):
        edit(Draft(tree))


def test_the_tree_is_put_back(tree: Path) -> None:
    """Changed, deleted and new files and new folders."""
    files: dict[str, bytes | None] = {"pkg/a.py": b"", "pkg/b.py": None, "pkg/new/c.py": b"x"}
    with edited(tree, files):
        assert {path.name for path in tree.rglob("*.py")} == {"a.py", "c.py"}
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*")) == ["pkg", "pkg/a.py", "pkg/b.py"]
    assert (tree / "pkg/a.py").read_text() == TEXT


def test_expected_findings_and_moved_old_ones_are_good() -> None:
    """The lines of old findings do not matter."""
    old, new = finding(1, "OPS101"), finding(4)
    assert judge("x", [old], [finding(3, "OPS101"), new], [Expected("OPS201", "pkg/a.py", 4, 4)]).good


def test_missing_unexpected_and_vanished_findings_are_told_apart() -> None:
    """A finding of the right rule in the right file is at the wrong line."""
    expected = [Expected("OPS201", "pkg/a.py", 4, 4), Expected("OPS301", "pkg/a.py", 9, 9)]
    before, other = finding(1, "OPS101"), finding(5, "OPS302")
    verdict = judge("x", [before], [finding(7), other], expected)
    assert verdict == Verdict(
        "x",
        missing=(expected[1],),
        elsewhere=((expected[0], finding(7)),),
        unexpected=(other,),
        vanished=(before,),
    )
    assert [line.split(":")[0].strip() for line in describe(verdict)] == [
        "FAILED x", "not reported", "wrong line", "unexpected", "vanished",
    ]  # fmt: skip


def test_one_place_of_a_label_is_enough() -> None:
    """None of them is not."""
    label = [Expected("OPS201", "pkg/a.py", line, line, label="a") for line in (4, 9)]
    assert judge("x", [], [finding(9)], label).good
    assert judge("x", [], [], label) == Verdict("x", missing=(label[0],))


def test_an_optional_finding_may_be_there_or_not() -> None:
    """It is not unexpected either."""
    optional = [Expected("OPS201", "pkg/a.py", 4, 4, optional=True)]
    assert judge("x", [], [finding(4)], optional).good
    assert judge("x", [], [], optional).good


def test_an_old_finding_with_another_message_is_known_by_its_fingerprint() -> None:
    """It neither appears nor vanishes."""
    assert judge("x", [finding(1, message="one of 3", mark="f")], [finding(1, message="one of 4", mark="f")], []).good


def test_a_finding_that_may_disappear_is_not_missed() -> None:
    """The edit took its cause away."""
    assert judge("x", [finding(1)], [], [], frozenset({("OPS201", "pkg/a.py")})).good


def test_one_mutation_is_applied_checked_and_undone(tree: Path) -> None:
    """The check sees the mutated tree, and the verdict is about it."""
    seen = []

    def findings_of(root: Path) -> list[Reported]:
        seen.append((root / "pkg/a.py").read_text())
        return [finding(1)]

    mutation = plant(
        "OPS201", "one fault", swap("pkg/a.py", "import a", "import torch_npu  # OPS201"), gone("OPS1", "x")
    )
    assert run_one(mutation, tree, [], findings_of) == Verdict("OPS201/one-fault")
    assert seen == [TEXT.replace("import a", "import torch_npu")]
    assert (tree / "pkg/a.py").read_text() == TEXT


def test_a_mutation_that_leaves_no_python_is_reported(tree: Path) -> None:
    """The fault is in the catalogue then, not in the product."""
    mutation = plant("OPS201", "broken", swap("pkg/a.py", "import a", "import ("))
    assert run_one(mutation, tree, [], lambda _: []).problem.startswith("SyntaxError")


def test_every_rule_has_many_faults_and_its_near_misses() -> None:
    """At least 8 faults of every rule, 15 of a founding one, and near misses of each."""
    faults = Counter(one.rule for one in all_mutations() if not one.name.startswith("harmless"))
    harmless = Counter(one.rule for one in all_mutations() if one.name.startswith("harmless"))
    assert set(RULES.split(",")) - set(faults) == set()
    assert {rule for rule in faults if faults[rule] < 8} == set()
    assert {rule for rule in faults if harmless[rule] < 2} == set()
    assert {rule for rule in FOUNDING if faults[rule] < 15} == set()
