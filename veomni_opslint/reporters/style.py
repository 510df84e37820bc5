"""How a report is presented: colour, and which of its optional parts are wanted."""

from __future__ import annotations

from typing import NamedTuple

from veomni_opslint.findings import Severity

_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}


class Presentation(NamedTuple):
    """What the user asked to see; ``quiet`` leaves out everything but the findings.

    ``columns`` is the width of the terminal that shows it, None where there is no terminal. ``prefix`` goes before the
    paths of formats whose readers start at the root of the repository, ``strict`` says that warnings fail the run.
    """

    colour: bool = False
    quiet: bool = False
    statistics: bool = False
    coverage: bool = False
    columns: int | None = None
    prefix: str = ""
    strict: bool = False

    def bold(self, text: str) -> str:
        """Emphasised."""
        return self._styled(text, "1")

    def dim(self, text: str) -> str:
        """Less important."""
        return self._styled(text, "2")

    def code(self, text: str) -> str:
        """Source code."""
        return self._styled(text, "36")

    def severe(self, text: str, severity: Severity) -> str:
        """In the colour of *severity*."""
        return self._styled(text, _COLOURS[severity])

    def _styled(self, text: str, attributes: str) -> str:
        return f"\x1b[{attributes}m{text}\x1b[0m" if self.colour else text


def printable(text: str) -> str:
    """*text* with control characters escaped: a file name must not be able to steer the terminal."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
