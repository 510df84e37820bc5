"""The bytes that a file had when it was analysed."""

from __future__ import annotations

from veomni_opslint.check import Checked, Request, contents_of
from veomni_opslint.source import decode_source, read_data


def original_bytes(request: Request, state: Checked, path: str) -> bytes | None:
    """What *path* held for the run *state* of *request*; None where it is on disk and was changed since."""
    project = state.analysis.project
    given = contents_of(request, project)
    data = given[path] if path in given else read_data(project.root, path)
    if not isinstance(data, bytes) or decode_source(path, data).text != state.analysis.files[path].text:
        return None
    return data
