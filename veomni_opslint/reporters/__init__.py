"""The output formats of ``opslint check``: each module renders a Report as one text."""

from __future__ import annotations

from collections.abc import Callable

from veomni_opslint.report import Report
from veomni_opslint.reporters import concise, json_report, text
from veomni_opslint.reporters.style import Presentation

FORMATS: dict[str, Callable[[Report, Presentation], str]] = {
    "text": text.render,
    "concise": concise.render,
    "json": json_report.render,
}

__all__ = ["FORMATS", "Presentation"]
