"""Edits, put into a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veomni_opslint.proposals import Edit


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """*text* with *edits*, of which no two overlap; insertions at one place keep their order."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        pieces += (text[position : edit.start], edit.text)
        position = edit.end
    return "".join((*pieces, text[position:]))


def overlap(some: Iterable[Edit], others: Sequence[Edit]) -> bool:
    """Whether an edit of the one touches one of the other, so that only one of them can be made."""
    return any(one.start <= other.end and other.start <= one.end for one in some for other in others)
