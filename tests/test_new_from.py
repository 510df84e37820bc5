"""`--new-from`: only what is new since a revision, whose tree is read from git's objects."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command import opslint
from support.git import commit, git
from support.projects import write_base_tree, write_files

from veomni_opslint.check import Request, check
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.gate.comparison import new_findings
from veomni_opslint.report import Report

UNUSED = "x = 1  # noqa: OPS001\n"
BROKEN = "def f(:\n"
SWIGLU = "veomni/ops/kernels/swiglu/__init__.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with an old error and an old warning."""
    root = tmp_path / "project"
    root.mkdir()
    write_base_tree(root)
    write_files(root, {"pyproject.toml": "", "veomni/old.py": BROKEN, "veomni/unused.py": UNUSED})
    git(root, "init", "-q")
    commit(root)
    return root


def run(tree: Path, *paths: str, since: str = "HEAD") -> Report:
    """What is new in the tree, or in some paths of it."""
    asked = tuple(str(tree / path) for path in paths or ("veomni",))
    return check(Request(asked, new_from=since, min_severity=Severity.INFO))


def shown(report: Report) -> list[str]:
    """Path, line and code of the findings."""
    return [f"{finding.place.path}:{finding.place.line} {finding.code}" for finding in report.findings]


def test_old_findings_are_not_shown(tree: Path) -> None:
    """The old ones are counted; what is not committed yet is part of the present tree."""
    report = run(tree)
    assert (shown(report), report.not_new) == ([], 2)
    write_files(tree, {"veomni/new.py": BROKEN, "veomni/unused.py": f"\n{UNUSED}"})
    report = run(tree)
    assert (shown(report), report.not_new) == (["veomni/new.py:1 OPS001"], 2)


def test_counts_are_those_of_a_baseline(tree: Path) -> None:
    """A baseline and a revision count old findings alike; infos are below the level shown, old or new."""
    write_files(tree, {"pyproject.toml": '[tool.opslint.severity]\nOPS002 = "info"\n'})
    assert opslint("veomni", "--baseline", "b.txt", "--write-baseline", "-q", cwd=tree).status == 0
    write_files(tree, {"veomni/new.py": f"y = 2\n{UNUSED}"})
    by_baseline = opslint("veomni", "--baseline", "b.txt", cwd=tree)
    by_revision = opslint("veomni", "--new-from", "HEAD", cwd=tree)
    hidden = "2 below the level shown; --min-severity info shows them"
    assert by_baseline.out == f"no findings in 28 files (1 in the baseline, {hidden})\n"
    assert by_revision.out == f"no findings in 28 files (1 in HEAD already, {hidden})\n"


def test_command(tree: Path) -> None:
    """The status is that of what is new, and the summary says how much was there already."""
    outcome = opslint("veomni", "--new-from", "HEAD", cwd=tree)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.endswith(" (2 in HEAD already)\n")
    write_files(tree, {"veomni/new.py": BROKEN})
    assert opslint("veomni", "--new-from", "HEAD", cwd=tree).status == 1


def test_nothing_is_changed(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No checkout, no change of the index, nothing left in the temporary folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (tree / "veomni/old.py").rename(tree / "veomni/moved.py")
    write_files(tree, {"veomni/new.py": BROKEN})
    before = git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()
    assert shown(run(tree)) == ["veomni/new.py:1 OPS001"]
    assert (git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()) == before
    assert list(scratch.iterdir()) == []


def test_second_equal_finding_is_new(tree: Path) -> None:
    """Findings are counted, and of equal ones the one at the new line is shown."""
    write_files(tree, {"veomni/unused.py": f"y = 2  # noqa: OPS001\n{UNUSED}"})
    assert shown(run(tree)) == ["veomni/unused.py:1 OPS002"]


@pytest.mark.parametrize("how", ["committed", "staged", "untracked"])
def test_rename_is_followed(how: str, tree: Path) -> None:
    """An old finding in a file with a new name is old, whether git was told or not; a new one beside it is new."""
    text = "".join(f"value_{number} = {number}\n" for number in range(20))
    write_files(tree, {"veomni/unused.py": text + UNUSED})
    commit(tree)
    (tree / "veomni/unused.py").unlink()
    write_files(tree, {"veomni/moved.py": text + UNUSED})
    if how != "untracked":
        git(tree, "add", "-A")
    if how == "committed":
        git(tree, "commit", "-q", "-m", "x")
    since = "HEAD~1" if how == "committed" else "HEAD"
    assert shown(run(tree, since=since)) == []
    write_files(tree, {"veomni/moved.py": f"y = 2  # noqa: OPS001\n{text}{UNUSED}"})
    assert shown(run(tree, since=since)) == ["veomni/moved.py:1 OPS002"]


def test_cause_in_another_file(tree: Path) -> None:
    """A finding in a file that did not change is new when the change of another file causes it."""
    slot = 'from veomni.ops.dispatch import OpSlot\n\nveomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")\n'
    path = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
    write_files(tree, {path: slot})
    commit(tree)
    assert shown(run(tree)) == []
    registering = (tree / SWIGLU).read_text(encoding="utf-8")
    write_files(tree, {SWIGLU: registering.replace('variant="standard"', 'variant="renamed"')})
    assert f"{path}:3 OPS301" in shown(run(tree))
    assert f"{path}:3 OPS301" in shown(run(tree, path))


def test_suppression_that_was_removed(tree: Path) -> None:
    """What a comment silenced in the revision is new without the comment."""
    write_files(tree, {"veomni/unused.py": "x = 1  # noqa: OPS001, OPS002\n"})
    commit(tree)
    write_files(tree, {"veomni/unused.py": UNUSED})
    assert shown(run(tree)) == ["veomni/unused.py:1 OPS002"]


def test_settings_of_now(tree: Path) -> None:
    """Both trees are judged by the present settings: what the revision left out is no longer new for that."""
    write_files(tree, {"pyproject.toml": '[tool.opslint]\nignore = ["OPS002"]\n'})
    commit(tree)
    write_files(tree, {"pyproject.toml": ""})
    report = run(tree)
    assert (shown(report), report.not_new) == ([], 2)


def test_project_below_the_repository(tmp_path: Path) -> None:
    """The project may be a folder of a larger repository, and the whole repository may be asked about."""
    root = tmp_path / "libraries/training"
    root.mkdir(parents=True)
    write_base_tree(root)
    write_files(root, {"pyproject.toml": "", "veomni/unused.py": UNUSED, "tools/a.py": UNUSED})
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    write_files(root, {"tools/b.py": UNUSED})
    assert shown(run(root)) == []
    assert shown(run(root, ".")) == ["tools/b.py:1 OPS002"]


def test_where_the_branch_began(tree: Path) -> None:
    """`main...` compares with the commit that the branch left; what main repaired since is no fault of the branch."""
    git(tree, "branch", "topic")
    write_files(tree, {"veomni/unused.py": ""})
    commit(tree)
    git(tree, "branch", "-f", "repaired")
    git(tree, "checkout", "-q", "topic")
    assert shown(run(tree, since="repaired")) == ["veomni/unused.py:1 OPS002"]
    assert shown(run(tree, since="repaired...")) == []


def test_revision_without_the_package(tree: Path) -> None:
    """Then everything is new, and a note says why."""
    git(tree, "checkout", "-q", "--orphan", "empty")
    git(tree, "rm", "-rq", "--cached", ".")
    write_files(tree, {"README.md": ""})
    git(tree, "add", "README.md")
    git(tree, "commit", "-qm", "x")
    report = run(tree)
    assert (len(report.findings), report.not_new) == (2, 0)
    assert report.doubt == "--new-from HEAD: there is no package to check, so every finding is new"


def test_in_a_hook(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git tells its hooks about the repository does not mislead."""
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index.lock")
    assert shown(run(tree)) == []


def test_links_and_odd_names(tree: Path) -> None:
    """A linked file is read as what it leads to, and names are bytes."""
    write_files(tree, {"veomni/grün name.py": UNUSED})
    (tree / "veomni/linked.py").symlink_to("unused.py")
    commit(tree)
    assert shown(run(tree)) == []


@pytest.mark.parametrize(
    ("since", "message"),
    [
        ("mian", "--new-from mian: no such revision here; did you mean `main`?"),
        ("a" * 40, f"--new-from {'a' * 40}: no such revision here; `git fetch` may bring it, `git branch -a` lists"),
        ("HEAD:veomni", "--new-from HEAD:veomni: this is a folder, not a commit; give a commit, a branch or a tag"),
        ("HEAD^{tree}", "--new-from HEAD^{tree}: this is a folder, not a commit; give a commit, a branch or a tag"),
        ("HEAD:pyproject.toml...", "--new-from HEAD:pyproject.toml...: this is a file, not a commit"),
        ("", "--new-from: `` is no revision; give a commit, a branch or a tag"),
        ("...", "--new-from: `...` is no revision"),
        ("--all", "--new-from: `--all` is no revision"),
    ],
)
def test_unknown_revision(since: str, message: str, tree: Path) -> None:
    """A revision that is not there ends the run, with the way to it."""
    with pytest.raises(RunError) as error:
        run(tree, since=since)
    assert str(error.value).startswith(message)


def test_shallow_clone(tree: Path, tmp_path: Path) -> None:
    """In a shallow clone the message says how to get the revision."""
    commit(tree)
    git(tmp_path, "clone", "-q", "--depth=1", tree.as_uri(), "clone")
    for since, message in (
        (
            "HEAD~1",
            "--new-from HEAD~1: no such revision here; the clone is shallow: `git fetch --depth=1 origin HEAD~1`",
        ),
        (
            "origin/release",
            "--new-from origin/release: no such revision here; the clone is shallow: `git fetch --depth=1",
        ),
    ):
        with pytest.raises(RunError) as error:
            run(tmp_path / "clone", since=since)
        assert str(error.value).startswith(message)
    assert shown(run(tmp_path / "clone")) == []


def test_no_repository(tree: Path) -> None:
    """Without git's data there is nothing to compare with; a baseline is the other way."""
    shutil.rmtree(tree / ".git")
    with pytest.raises(RunError) as error:
        run(tree)
    assert str(error.value).startswith(f"--new-from HEAD: git finds no repository for {tree} (fatal: not a git reposit")
    assert str(error.value).endswith("a baseline (`--baseline`) needs no git")


def test_no_git(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the program the run cannot be made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"^--new-from needs git, which cannot be run: No such file or directory; "):
        run(tree)


def test_object_that_is_missing(tree: Path) -> None:
    """A repository with holes is no empty one."""
    write_files(tree, {"veomni/unused.py": f"{UNUSED}y = 3\n"})
    sha = git(tree, "rev-parse", "HEAD:veomni/unused.py").strip()
    (tree / ".git/objects" / sha[:2] / sha[2:]).unlink()
    with pytest.raises(RunError, match=rf"^git has no object {sha}: the repository is incomplete"):
        run(tree)


def at(line: int, message: str = "broken", path: str = "veomni/a.py", column: int = 1) -> Finding:
    """A finding."""
    return Finding("OPS301", "x", Severity.ERROR, message, Place(path, line, column))


@pytest.mark.parametrize(
    ("now", "before", "new"),
    [
        ([at(1)], [], [at(1)]),
        ([at(3)], [at(1)], []),
        ([at(1), at(3)], [at(2)], [at(1)]),
        ([at(3, "worded otherwise")], [at(2)], []),
        ([at(3, "worded otherwise", column=2)], [at(2)], [at(3, "worded otherwise", column=2)]),
        ([at(1, "worded otherwise")], [at(2)], [at(1, "worded otherwise")]),
        ([at(1)], [at(1, path="veomni/b.py")], [at(1)]),
        ([at(1)], [at(1, path="veomni/old.py")], []),
        ([at(1, "veomni.a fails")], [at(1, "veomni.old fails", path="veomni/old.py")], []),
        ([at(1, "veomni.a.x fails")], [at(1, "veomni.old.x fails", path="veomni/old.py")], []),
        ([at(9, "of veomni.a")], [at(1, "of veomni.older")], [at(9, "of veomni.a")]),
    ],
)
def test_comparison(now: list[Finding], before: list[Finding], new: list[Finding]) -> None:
    """Of each finding of now, whether the old tree had it: one line was inserted at the top, old.py became a.py."""
    texts = ("zero\none\ntwo\nthree\n", "one\ntwo\nthree\n")
    renames = {"veomni/old.py": "veomni/a.py"}
    result = new_findings(now, before, renames, lambda _: texts[0], lambda _: texts[1])
    assert result == set(new)
