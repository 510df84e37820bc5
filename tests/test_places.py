"""From the spans of the parser to places in characters."""

from __future__ import annotations

import pytest

from veomni_opslint.facts import Span
from veomni_opslint.findings import Place
from veomni_opslint.places import place_of

PATH = "veomni/x.py"
TEXT = "x = 1\nname = 'é', y\n\n    🙂 = 2\n"


@pytest.mark.parametrize(
    ("span", "place"),
    [
        ((1, 0, 1, 5), Place(PATH, 1, 1, 1, 6)),
        ((2, 13, 2, 14), Place(PATH, 2, 13, 2, 14)),
        ((2, 7, 2, 11), Place(PATH, 2, 8, 2, 11)),
        ((1, 4, 4, 8), Place(PATH, 1, 5, 4, 6)),
        ((4, 11, 4, 12), Place(PATH, 4, 9, 4, 10)),
        ((3, 0, 3, 0), Place(PATH, 3, 1, 3, 1)),
        ((2, 90, 9, 3), Place(PATH, 2, 14, 9, 4)),
    ],
)
def test_place_of(span: Span, place: Place) -> None:
    """Columns count characters from 1, whatever the characters are; beyond the text nothing fails."""
    assert place_of(PATH, TEXT, span) == place


def test_place_is_written_as_editors_read_it() -> None:
    """Path, line and column, with colons."""
    assert str(Place(PATH, 3, 7, 4, 1)) == "veomni/x.py:3:7"
