"""What git knows of a project: its revisions, their files, and what was renamed since. Nothing is checked out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from veomni_opslint.errors import RunError, did_you_mean

# Git sets them for its hooks; together with `-C` they would name the wrong folder.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_MERGE_BASE = "..."
_USE_BASELINE = "a baseline (`--baseline`) needs no git"


class TreeEntry(NamedTuple):
    """A file of a revision; ``path`` is relative to the project root, ``mode`` as git has it."""

    mode: str
    sha: str
    path: str


class Repository:
    """The git repository that the project at *root* is in."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        if _has_own_git(root):
            for name in _OF_HOOKS:
                self._environment.pop(name, None)

    def commit(self, revision: str) -> str:
        """The commit that *revision* names; ``REV...`` is where HEAD branched off from REV.

        Raises:
            RunError: there is no git, no repository or no such revision.
        """
        name = revision.removesuffix(_MERGE_BASE)
        if not name or name.startswith("-"):
            raise RunError(f"--new-from: `{revision}` is no revision; give a commit, a branch or a tag")
        self._require_repository(revision)
        found = self._run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found.returncode:
            kind = self._run("cat-file", "-t", name)
            if not kind.returncode:
                what = "a file" if kind.stdout.strip() == b"blob" else "a folder"
                raise RunError(f"--new-from {revision}: this is {what}, not a commit; give a commit, a branch or a tag")
            raise RunError(f"--new-from {revision}: no such revision here{self._way_out(name)}")
        commit = found.stdout.decode().strip()
        if not revision.endswith(_MERGE_BASE):
            return commit
        base = self._run("merge-base", commit, "HEAD")
        if base.returncode:
            shallow = "; the clone is shallow: `git fetch --unshallow` fetches the rest" if self._is_shallow() else ""
            raise RunError(f"--new-from {revision}: HEAD and {name} have no common commit here{shallow}")
        return base.stdout.decode().strip()

    def files(self, commit: str) -> list[TreeEntry]:
        """Every file of *commit* below the root.

        Raises:
            RunError: git cannot read it.
        """
        listed = self._output("ls-tree", "-r", "-z", commit)
        found = []
        for record in filter(None, listed.split(b"\0")):
            described, _, path = record.partition(b"\t")
            mode, _, sha = described.decode().split(" ")
            found.append(TreeEntry(mode, sha, os.fsdecode(path)))
        return found

    def contents(self, shas: Sequence[str]) -> Iterator[bytes]:
        """The content of each object.

        Raises:
            RunError: git cannot read one.
        """
        data = self._output("cat-file", "--batch", given="".join(f"{sha}\n" for sha in shas).encode())
        at = 0
        for sha in shas:
            end = data.find(b"\n", at)
            header = data[at:end].split()
            if end < 0 or len(header) != 3:
                raise RunError(f"git has no object {sha}: the repository is incomplete; `git fetch` may complete it")
            size = int(header[2])
            yield data[end + 1 : end + 1 + size]
            at = end + size + 2

    def renames(self, commit: str, scratch: str) -> dict[str, str]:
        """Files of *commit* that are now called otherwise, also those that git does not know yet: old name to new.

        The index is copied into the folder *scratch*, so the user's own stays as it is.
        """
        index = os.path.join(scratch, "index")
        environment = {**self._environment, "GIT_INDEX_FILE": index}
        own = self._output("rev-parse", "--git-path", "index").decode().rstrip("\n")
        try:
            with open(os.path.join(self.root, own), "rb") as file, open(index, "wb") as copy:
                copy.write(file.read())
        except FileNotFoundError:
            pass
        except OSError as error:
            raise RunError(f"--new-from: git's index cannot be copied: {error.strerror}") from None
        # Without untracked files a rename that is not added yet would be missed, which is all that a failure means.
        self._run("add", "--intent-to-add", "--ignore-errors", "--", ".", environment=environment)
        listed = self._output(
            "diff", "--no-ext-diff", "--name-status", "-z", "-M", "-l0", "--diff-filter=R", "--relative",
            "--ignore-submodules", commit, "--",
            environment=environment,
        )  # fmt: skip
        words = [os.fsdecode(word) for word in listed.split(b"\0")]
        return {words[at + 1]: words[at + 2] for at in range(0, len(words) - 2, 3)}

    def _require_repository(self, revision: str) -> None:
        inside = self._run("rev-parse", "--git-dir")
        if inside.returncode:
            said = inside.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise RunError(
                f"--new-from {revision}: git finds no repository for {self.root} ({said}); "
                f"run it in a clone, or use another way: {_USE_BASELINE}"
            )

    def _way_out(self, name: str) -> str:
        if self._is_shallow():
            branch = name.rpartition("/")[2]
            return (
                f"; the clone is shallow: `git fetch --depth=1 origin {branch}` and `--new-from FETCH_HEAD`, "
                "or clone with the history (`fetch-depth: 0` for actions/checkout)"
            )
        known = self._output("for-each-ref", "--format=%(refname:short)").decode(errors="replace").split()
        return did_you_mean(name, known) or "; `git fetch` may bring it, `git branch -a` lists the branches"

    def _is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def _output(self, *arguments: str, given: bytes = b"", environment: dict[str, str] | None = None) -> bytes:
        done = self._run(*arguments, given=given, environment=environment)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise RunError(f"--new-from: `git {arguments[0]}` failed: {said}")
        return done.stdout

    def _run(
        self, *arguments: str, given: bytes = b"", environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603 - git, with our own arguments
                ["git", "-C", self.root, *arguments],  # noqa: S607 - the user's git, wherever it is
                input=given,
                capture_output=True,
                env=environment or self._environment,
                check=False,
            )
        except OSError as error:
            raise RunError(f"--new-from needs git, which cannot be run: {error.strerror}; {_USE_BASELINE}") from None


def _has_own_git(folder: str) -> bool:
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
