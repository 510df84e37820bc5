"""One report on all ranks: that of the largest group, and what the others have in another way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from veomni_opslint.runtime.document import Document
from veomni_opslint.runtime.ranks import Group


def render_ranks_json(groups: Sequence[Group]) -> str:
    """One JSON object with a report for each group."""
    document = {
        "version": 1,
        "world_size": sum(len(group.ranks) for group in groups),
        "groups": [
            {"ranks": list(group.ranks), "differs": list(group.differs), "report": group.document} for group in groups
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def rank_lines(groups: Sequence[Group], *, markdown: bool) -> Iterator[str]:
    """A table of the groups, and of each but the first what differs."""
    if markdown:
        yield from ("| ranks | machine | kernels | differs in |", "|---|---|---|---|")
        for group in groups:
            cells = (group.title, _machine(group.document), _kernels(group.document), "; ".join(group.differs))
            yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
        return
    yield f"all {len(groups[0].ranks)} ranks are equal" if len(groups) == 1 else f"{len(groups)} groups of ranks differ"
    for group in groups:
        yield f"  {group.title}: {_machine(group.document)}: {_kernels(group.document)}"
        yield from (f"    {difference}" for difference in group.differs)


def failed(documents: Sequence[Document], *, strict: bool) -> bool:
    """Whether some rank found what has to fail the run."""
    return any(_fails(document, strict=strict) for document in documents)


def _fails(document: Document, *, strict: bool) -> bool:
    if "failed" in document:
        return True
    summary = document["summary"]
    return isinstance(summary, dict) and bool(summary["errors"] or (strict and summary["warnings"]))


def _machine(document: Document) -> str:
    environment = document.get("environment")
    if not isinstance(environment, dict):
        return "the run could not be made"
    devices = ", ".join(dict.fromkeys(environment["devices"]))
    return f"{environment['device']}{': ' * bool(devices)}{devices}"


def _kernels(document: Document) -> str:
    statuses = document.get("statuses")
    if not isinstance(statuses, dict):
        return str(document.get("failed"))
    return ", ".join(f"{number} {status}" for status, number in statuses.items()) or "no kernels"
