"""The PATH of the commands that are about a whole package: ``registry``, ``bind``, ``op`` and ``runtime``."""

from __future__ import annotations

import os

from veomni_opslint.errors import RunError
from veomni_opslint.file_walk import is_python_script


def package_operand(path: str, *, takes_job: bool) -> str:
    """The *path* as given; with *takes_job* the command has a ``--config`` for the file of a job.

    Raises:
        RunError: it is a file that is no Python: the whole package would be shown, as if the file made a difference.
    """
    if not os.path.isfile(path) or is_python_script(path):
        return path
    if takes_job and path.endswith((".yaml", ".yml")):
        raise RunError(f"{path}: is the file of a job: give it as `--config {path}`")
    raise RunError(f"{path}: is no Python file; PATH is the package or its repository")
