"""The baseline: what it accepts, what it reports, how it is written, and how a damaged one ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.fingerprints import with_fingerprints
from veomni_opslint.gate.baseline import Baseline, Entry, accepted, entry_of, mark_of, read_baseline

UNUSED = "x = 1  # noqa: OPS001\n"
BROKEN = "def f(:\n"
SAVE = ("--baseline", "baseline.txt", "--write-baseline")
PRUNE = ("--baseline", "baseline.txt", "--prune-baseline")
GATE = ("--baseline", "baseline.txt", "-q", "--output-format", "concise")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with an old error and an old warning."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", "veomni/old.py": BROKEN, "veomni/unused.py": UNUSED})
    return tmp_path


def entries(tree: Path) -> list[tuple[str, str]]:
    """Path and code of what the baseline lists."""
    baseline = read_baseline(str(tree / "baseline.txt"))
    assert baseline is not None
    return [(entry.path, entry.code) for entry in baseline.entries]


def shown(tree: Path, *arguments: str) -> list[str]:
    """Path and code of what a run shows."""
    lines = opslint(*arguments, cwd=tree).out.splitlines()
    return [f"{line.partition(':')[0]} {line.split()[2]}" for line in lines]


def test_adoption(tree: Path) -> None:
    """Written in one command, green from then on; only what is new turns it red and is shown."""
    assert opslint("veomni", cwd=tree).status == 1
    written = opslint("veomni", *SAVE, cwd=tree)
    assert (written.status, written.err) == (
        0,
        "opslint: done: baseline baseline.txt: 2 accepted findings (2 added, 0 removed)\n",
    )
    assert written.out.endswith("(2 in the baseline)\n")
    assert opslint("veomni", *GATE, "--strict", cwd=tree) == Outcome(0, "", "")
    write_files(tree, {"veomni/new.py": BROKEN})
    assert opslint("veomni", *GATE, cwd=tree).status == 1
    assert shown(tree, "veomni", *GATE) == ["veomni/new.py OPS001"]


def test_file_is_sorted_and_the_same_each_time(tree: Path) -> None:
    """One finding a line in the order of the paths, so that a diff shows what was accepted; unchanged if nothing is."""
    opslint("veomni", *SAVE, cwd=tree)
    text = (tree / "baseline.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "# opslint baseline 1, of the package"
    assert [line.partition(": ")[0] for line in lines[2:-1]] == ["veomni/old.py", "veomni/unused.py"]
    again = opslint("veomni", *SAVE, cwd=tree)
    assert again.err == "opslint: done: baseline baseline.txt: 2 accepted findings (unchanged)\n"
    assert (tree / "baseline.txt").read_text(encoding="utf-8") == text


def test_lines_may_move(tree: Path) -> None:
    """An entry is about a finding and not about a line."""
    opslint("veomni", *SAVE, cwd=tree)
    write_files(tree, {"veomni/unused.py": f"\n\n\n{UNUSED}"})
    assert opslint("veomni", *GATE, "--strict", cwd=tree) == Outcome(0, "", "")


def test_stale_entry(tree: Path) -> None:
    """An entry whose finding is gone is a warning at its line, until it is pruned; pruning never adds."""
    opslint("veomni", *SAVE, cwd=tree)
    write_files(tree, {"veomni/old.py": "", "veomni/new.py": BROKEN})
    assert shown(tree, "veomni", *GATE) == ["baseline.txt OPS004", "veomni/new.py OPS001"]
    assert shown(tree, "veomni", *GATE, "--ignore", "OPS004") == ["veomni/new.py OPS001"]
    pruned = opslint("veomni", *PRUNE, cwd=tree)
    assert (pruned.status, pruned.err) == (
        1,
        "opslint: done: baseline baseline.txt: 1 accepted finding (0 added, 1 removed)\n",
    )
    assert entries(tree) == [("veomni/unused.py", "OPS002")]
    assert shown(tree, "veomni", *GATE) == ["veomni/new.py OPS001"]


@pytest.mark.parametrize(
    "arguments",
    [("veomni/ops",), ("veomni", "--select", "OPS301"), (".",)],
    ids=["other files", "other rules", "the repository"],
)
def test_entry_that_the_run_cannot_judge(arguments: tuple[str, ...], tree: Path) -> None:
    """A run of other files or rules, or of a larger part of the repository, cannot tell that an entry is stale."""
    opslint("veomni", *SAVE, cwd=tree)
    write_files(tree, {"veomni/old.py": "", "veomni/unused.py": ""})
    only = [line for line in shown(tree, *arguments, *GATE) if "OPS001" not in line]
    assert only == []
    opslint(*arguments, *PRUNE, cwd=tree)
    opslint(*arguments, *SAVE, "--min-severity", "error", cwd=tree)
    assert ("veomni/unused.py", "OPS002") in entries(tree) or arguments == (".",)


def test_hidden_findings_are_not_accepted_and_not_stale(tree: Path) -> None:
    """Written for errors only, the baseline leaves warnings as they are; hiding them later makes no entry stale."""
    opslint("veomni", *SAVE, "--min-severity", "error", cwd=tree)
    assert entries(tree) == [("veomni/old.py", "OPS001")]
    assert shown(tree, "veomni", *GATE) == ["veomni/unused.py OPS002"]
    opslint("veomni", *SAVE, cwd=tree)
    assert shown(tree, "veomni", *GATE, "--min-severity", "error") == []


def test_comment_of_an_entry_stays(tree: Path) -> None:
    """A reader's remark survives pruning and writing."""
    opslint("veomni", *SAVE, cwd=tree)
    path = tree / "baseline.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("]\n", "]  # a template\n", 1), encoding="utf-8")
    opslint("veomni", *PRUNE, cwd=tree)
    opslint("veomni", *SAVE, cwd=tree)
    assert path.read_text(encoding="utf-8").count("]  # a template\n") == 1


def test_baseline_of_the_settings(tree: Path) -> None:
    """The settings name it from the project root, wherever the run is started; the command line goes before."""
    write_files(tree, {"pyproject.toml": '[tool.opslint]\nbaseline = "baseline.txt"\n'})
    assert opslint("ops", "--write-baseline", "--root", "..", cwd=tree / "veomni").status == 0
    assert opslint(".", "--write-baseline", cwd=tree / "veomni").status == 0
    assert entries(tree) == [("veomni/old.py", "OPS001"), ("veomni/unused.py", "OPS002")]
    assert opslint("veomni", "-q", cwd=tree) == Outcome(0, "", "")
    write_files(tree, {"other.txt": str(Baseline("package"))})
    assert opslint("veomni", "--baseline", "other.txt", cwd=tree).status == 1


def test_no_baseline(tree: Path) -> None:
    """It shows everything in spite of the settings, also where the baseline that they name is missing."""
    write_files(tree, {"pyproject.toml": '[tool.opslint]\nbaseline = "baseline.txt"\n'})
    everything = opslint("veomni", "--no-baseline", cwd=tree)
    assert (everything.status, everything.err) == (1, "")
    assert opslint("veomni", "--write-baseline", "-q", cwd=tree).status == 0
    assert opslint("veomni", "-q", cwd=tree) == Outcome(0, "", "")
    assert opslint("veomni", "--no-baseline", cwd=tree) == everything


def test_baseline_that_cannot_be_written(tree: Path) -> None:
    """It is said, and the status is 2, whatever was found."""
    outcome = opslint("veomni", "--baseline", "nowhere/b.txt", "--write-baseline", cwd=tree)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "opslint: error: baseline nowhere/b.txt: cannot be written: No such file or directory\n"


GOOD = str(Baseline("package", (Entry("a.py", "OPS001", "x", "0" * 32),)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no baseline of opslint: its first line is another"),
        ("{}\n", "is no baseline of opslint: its first line is another"),
        (GOOD.replace("baseline 1", "baseline 2"), "is of version 2, and this opslint knows version 1"),
        (GOOD.removesuffix("# end\n"), "is damaged: the last line, `# end`, is missing"),
        (GOOD[:80], "is damaged: the last line, `# end`, is missing"),
        (GOOD.replace("a.py", "<<<<<<< HEAD\na.py"), ":3: is damaged: the line is no entry"),
        (GOOD.replace("0" * 32, "*"), ":3: is damaged: the line is no entry"),
        (GOOD.replace("0" * 32, "0" * 31), ":3: is damaged: the line is no entry"),
        (GOOD.encode() + b"\xff", "is damaged: it is not UTF-8"),
    ],
)
def test_damaged_baseline(text: str | bytes, message: str, tmp_path: Path) -> None:
    """What is no baseline is an error and never an empty one; there is no wildcard."""
    path = tmp_path / "b.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RunError) as error:
        read_baseline(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("written", "edited", "use"),
    [
        ("veomni/old.py: OPS001", "veomni/new.py: OPS001", ()),
        ("veomni/old.py: OPS001", "veomni/old.py: OPS002", ("--write-baseline",)),
        ("OPS001 ", "OPS001 harmless: ", ("--prune-baseline",)),
    ],
)
def test_text_that_was_edited(tree: Path, written: str, edited: str, use: tuple[str, ...]) -> None:
    """An entry says what it accepts: where the text is of another finding than the digest, the file is damaged."""
    opslint("veomni", *SAVE, cwd=tree)
    text = (tree / "baseline.txt").read_text(encoding="utf-8").replace(written, edited)
    write_files(tree, {"baseline.txt": text})
    assert opslint("veomni", "--baseline", "baseline.txt", *use, cwd=tree) == Outcome(
        2,
        "",
        "opslint: error: baseline baseline.txt:3: is damaged: the digest accepts another finding than the text says, "
        "OPS001 of veomni/old.py; restore it from version control, or delete it and accept what there is with "
        "`--write-baseline`\n",
    )
    assert (tree / "baseline.txt").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", ["a.py", "a b: OPS1 x.py", "a\nb.py"])
@pytest.mark.parametrize("message", ["it is [broken]", "it is # broken [x]", "two\nlines \u2028"])
@pytest.mark.parametrize("mark", ["", mark_of("import x")])
def test_entries_are_read_as_written(path: str, message: str, mark: str, tmp_path: Path) -> None:
    """Whatever is in a path or a message, an entry is one line and comes back."""
    finding = with_fingerprints([Finding("OPS301", "x", Severity.ERROR, message, Place(path, 1))])[0]
    entry = entry_of(finding, mark)
    (tmp_path / "b.txt").write_text(str(Baseline("repository", (entry,))), encoding="utf-8")
    baseline = read_baseline(str(tmp_path / "b.txt"))
    assert baseline is not None
    assert (baseline.scope, [str(read) for read in baseline.entries]) == ("repository", [str(entry)])
    assert baseline.entries[0].fingerprint == finding.fingerprint


def test_equal_findings_are_told_apart_by_their_line() -> None:
    """Of equal findings of a file the accepted ones are those at their old lines, and no more than were accepted."""
    before = with_fingerprints(Finding("OPS101", "x", Severity.ERROR, "same", Place("a.py", line)) for line in (1, 2))
    marks = [mark_of("import a"), mark_of("import b")]
    listed = [entry_of(finding, mark) for finding, mark in zip(before, marks, strict=True)]
    after = with_fingerprints(Finding("OPS101", "x", Severity.ERROR, "same", Place("a.py", line)) for line in (1, 2, 3))
    now = [mark_of("import new"), *marks]
    assert accepted(after, now, listed) == set(after[1:])
    assert accepted(after, ["", "", ""], listed) == set(after[:2])
    assert accepted(after, now, []) == set()
