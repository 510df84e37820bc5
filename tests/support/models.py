"""The model of a small project that a test writes down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.projects import write_base_tree, write_files
from veomni_opslint.analysis import analyse
from veomni_opslint.discovery import discover
from veomni_opslint.model import OpsModel


def model_of(root: Path, files: Mapping[str, str]) -> OpsModel:
    """The base tree with *files* laid over it, linked."""
    write_base_tree(root)
    write_files(root, files)
    project, settings = discover((str(root),), root=str(root))
    return analyse(project, settings).model
