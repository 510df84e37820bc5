"""A revision as a folder of its own: the files that an analysis reads, with their content, the others empty."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from veomni_opslint.errors import RunError
from veomni_opslint.gate.git import Repository, TreeEntry

_LINK = "120000"
_SUBMODULE = "160000"
# Whether such a file is there can matter to a rule; what is in it cannot.
_NEVER_READ = frozenset(
    {
        ".bin",
        ".bmp",
        ".gif",
        ".gz",
        ".ico",
        ".ipynb",
        ".jpeg",
        ".jpg",
        ".mp3",
        ".mp4",
        ".npy",
        ".npz",
        ".parquet",
        ".pdf",
        ".png",
        ".pt",
        ".pth",
        ".pyc",
        ".safetensors",
        ".so",
        ".svg",
        ".tar",
        ".ttf",
        ".wav",
        ".webp",
        ".whl",
        ".woff",
        ".woff2",
        ".xz",
        ".zip",
    }
)
_NO_PARTS = frozenset({"", ".", "..", ".git"})


@contextmanager
def revision_tree(repository: Repository, commit: str, only: str | None) -> Iterator[str]:
    """The folder, for as long as it is used; *only* a folder and what lies directly in the root, if it has files.

    Raises:
        RunError: git cannot read the revision, or the folder cannot be written.
    """
    import tempfile  # noqa: PLC0415 - only a run against a revision needs it

    try:
        with tempfile.TemporaryDirectory(prefix="opslint-", ignore_cleanup_errors=True) as folder:
            root = os.path.realpath(folder)
            _write(repository, _wanted(repository.files(commit), only), root)
            yield root
    except OSError as error:
        raise RunError(f"--new-from: a temporary folder cannot be written: {error.strerror or error}") from None


def _wanted(entries: list[TreeEntry], only: str | None) -> list[TreeEntry]:
    entries = [
        entry for entry in entries if entry.mode != _SUBMODULE and not _NO_PARTS.intersection(entry.path.split("/"))
    ]
    if only is None or not any(entry.path.startswith(f"{only}/") for entry in entries):
        return entries
    return [entry for entry in entries if "/" not in entry.path or entry.path.startswith(f"{only}/")]


def _write(repository: Repository, entries: list[TreeEntry], root: str) -> None:
    read = [entry for entry in entries if os.path.splitext(entry.path)[1].lower() not in _NEVER_READ]
    contents = dict(
        zip((entry.path for entry in read), repository.contents([entry.sha for entry in read]), strict=True)
    )
    for folder in sorted({os.path.dirname(entry.path) for entry in entries}):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    links = []
    for entry in entries:
        if entry.mode == _LINK and entry.path in contents:
            links.append(entry.path)
            continue
        with open(os.path.join(root, entry.path), "wb") as file:
            file.write(contents.get(entry.path, b""))
    # Last, so that no file is written through one.
    for path in links:
        os.symlink(os.fsdecode(contents[path]), os.path.join(root, path))
