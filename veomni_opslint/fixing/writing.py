"""Writing changed files: each as a whole or not at all, and only where it still is what was analysed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file (path relative to the root), what it was when it was analysed, and what it is to be."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class NotWritten:
    """Why a file was left as it is; ``changed_meanwhile``: somebody else was quicker."""

    path: str
    reason: str
    changed_meanwhile: bool = False


def write_files(root: str, files: Iterable[ChangedFile]) -> tuple[NotWritten, ...]:
    """Write *files*; answer those that could not be, the others are written all the same."""
    return tuple(problem for file in files if (problem := _write(root, file)) is not None)


def _write(root: str, file: ChangedFile) -> NotWritten | None:
    # A link stays a link: what it points at is replaced.
    target = os.path.realpath(os.path.join(root, file.path))
    folder = os.path.dirname(target)
    try:
        status = os.stat(target)
        with open(target, "rb") as opened:
            content = opened.read()
        if content == file.after:
            # By another name, a link.
            return None
        if content != file.before:
            return NotWritten(file.path, "it was changed while opslint ran; run it again", changed_meanwhile=True)
        # Replacing a file needs only a writable folder; one that is marked read-only is left alone all the same.
        if not status.st_mode & _WRITABLE or not os.access(target, os.W_OK):
            return NotWritten(file.path, "the file is read-only")
        if not os.stat(folder).st_mode & _WRITABLE or not os.access(folder, os.W_OK):
            return NotWritten(file.path, f"the folder {os.path.dirname(file.path) or '.'} is read-only")
        _replace(target, folder, status, file.after)
    except FileNotFoundError:
        return NotWritten(file.path, "it was removed while opslint ran", changed_meanwhile=True)
    except OSError as error:
        return NotWritten(file.path, error.strerror or str(error))
    return None


def _replace(target: str, folder: str, status: os.stat_result, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".opslint-")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            # Only root can give a file away; the mode is set after that, which may clear bits of it.
            os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
