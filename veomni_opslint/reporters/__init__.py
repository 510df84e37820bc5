"""The output formats of ``opslint check``: each module renders a Report as one text.

A run imports the module of the format that is asked for, and no other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from veomni_opslint.reporters.style import Presentation

if TYPE_CHECKING:
    from veomni_opslint.report import Report

Renderer: TypeAlias = Callable[["Report", Presentation], str]


def _late(module: str) -> Renderer:
    def render(report: Report, presentation: Presentation) -> str:
        renderer: Renderer = importlib.import_module(f"{__name__}.{module}").render
        return renderer(report, presentation)

    return render


FORMATS: dict[str, Renderer] = {
    "text": _late("text"),
    "concise": _late("concise"),
    "json": _late("json_report"),
    "jsonl": _late("jsonl"),
    "sarif": _late("sarif"),
    "github": _late("github"),
    "gitlab": _late("gitlab"),
    "junit": _late("junit"),
    "markdown": _late("markdown"),
}

__all__ = ["FORMATS", "Presentation"]
