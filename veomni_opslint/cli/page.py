"""A rule's page on a terminal: headings, code and fences made visible, everything else as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.reporters.style import Presentation

_INLINE = re.compile(r"`([^`]+)`")
_FENCE = re.compile(r"```+(?P<language>\w*)(?P<attributes>.*)")
_PATH = re.compile(r"path=(\S+)")


def for_terminal(page: str, presentation: Presentation) -> str:
    """Render *page*: the fences become the path of their file and indented code."""
    return "".join(f"{line}\n" for line in _lines(page, presentation))


def _lines(page: str, presentation: Presentation) -> Iterator[str]:
    in_code = False
    for line in page.splitlines():
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            path = _PATH.search(fence["attributes"])
            if not in_code and path is not None:
                yield presentation.dim(f"    {path[1]}")
            in_code = not in_code
        elif in_code:
            yield f"    {presentation.code(line)}" if line else ""
        elif line.startswith("#"):
            yield presentation.bold(line.lstrip("# "))
        else:
            yield _INLINE.sub(lambda match: presentation.code(match[1]), line)
