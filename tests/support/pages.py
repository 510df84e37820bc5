"""Reading a rule's page: its sections, and its fenced examples as small projects.

A fence ```` ```python bad path=veomni/x.py ```` is a file of an example. ``bad`` files carry the expected codes at the
end of the offending lines (``# OPS101``, after another comment ``-- OPS101``), ``good`` and ``silent`` ones expect
nothing, and a ``setup`` file belongs to every later example of the page. Fences of one kind that follow each other are
one project; a heading, an ``example=NAME``, or a path that the project already has begins the next one.

A ``before`` example is a bad one that can be fixed, and the ``after`` example that follows is what its files become.
Its marks are taken out before it is written, because comments are moved about with the code.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

_FENCE = re.compile(r"(?P<ticks>```+)(?P<language>[\w-]*)(?P<attributes>.*)")
_EXPECTED = re.compile(r"(?:#|--) (?P<codes>OPS\d{3}(?: OPS\d{3})*)(?: -->)?\s*$")
KINDS = ("bad", "good", "silent", "setup", "before", "after")

Expected = Counter[tuple[str, int, str]]


@dataclass(frozen=True)
class Fence:
    """One fenced block; ``kind`` is empty for a block that is no file of an example."""

    line: int
    section: str
    language: str
    kind: str
    path: str
    example: str
    content: str


@dataclass
class Example:
    """One small project and what it is expected to give."""

    kind: str
    line: int
    name: str
    files: dict[str, str] = field(default_factory=dict)
    expected: Expected = field(default_factory=Counter)


@dataclass(frozen=True)
class Page:
    """A page: its title, the paragraph below, its level-2 headings, its fences."""

    title: str
    summary: str
    sections: tuple[str, ...]
    fences: tuple[Fence, ...]

    def examples(self) -> list[Example]:
        """The projects of the page, in order."""
        found: list[Example] = []
        setup: dict[str, str] = {}
        last: Fence | None = None
        for fence in self.fences:
            if fence.kind == "setup":
                setup[fence.path] = fence.content
                last = None
            elif fence.kind:
                if last is None or _begins(fence, last, found[-1], setup):
                    found.append(Example(fence.kind, fence.line, fence.example, dict(setup)))
                found[-1].files[fence.path] = _without_marks(fence) if fence.kind == "before" else fence.content
                found[-1].expected.update(_expected(fence))
                last = fence
        return found

    def repairs(self) -> list[tuple[Example, Example]]:
        """Each project that can be fixed, and what fixing makes of it."""
        examples = self.examples()
        return [(one, after) for one, after in pairwise(examples) if after.kind == "after"]


def read_page(text: str) -> Page:
    """Parse *text*.

    Raises:
        ValueError: a fence is not closed, or its attributes are not understood.
    """
    title = summary = section = ""
    sections: list[str] = []
    fences: list[Fence] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            end = next((at for at in range(number + 1, len(lines)) if lines[at].rstrip() == fence["ticks"]), None)
            if end is None:
                raise ValueError(f"line {number + 1}: the fence is not closed")
            content = "".join(f"{inner}\n" for inner in lines[number + 1 : end])
            fences.append(_fence(number + 1, section, fence["language"], fence["attributes"], content))
            number = end
        elif line.startswith("#"):
            section = line
            if line.startswith("# ") and not title:
                title = line.removeprefix("# ")
            elif line.startswith("## "):
                sections.append(line.removeprefix("## "))
        elif line and title and not summary and not sections:
            summary = line
        number += 1
    return Page(title, summary, tuple(sections), tuple(fences))


def _fence(line: int, section: str, language: str, attributes: str, content: str) -> Fence:
    kind = path = example = ""
    for word in attributes.split():
        name, _, value = word.partition("=")
        if word in KINDS and not kind:
            kind = word
        elif name == "path" and value and not path:
            path = value
        elif name == "example" and value and not example:
            example = value
        else:
            raise ValueError(f"line {line}: `{word}` is not understood")
    if bool(kind) != bool(path):
        raise ValueError(f"line {line}: a file of an example has a kind ({', '.join(KINDS)}) and a path")
    return Fence(line, section, language, kind, path, example, content)


def _begins(fence: Fence, last: Fence, current: Example, setup: dict[str, str]) -> bool:
    repeated = fence.path in current.files and fence.path not in setup
    return (fence.section, fence.kind, fence.example) != (last.section, last.kind, last.example) or repeated


def _without_marks(fence: Fence) -> str:
    return "".join(f"{_EXPECTED.sub('', line).rstrip()}\n" for line in fence.content.splitlines())


def _expected(fence: Fence) -> Expected:
    found: Expected = Counter()
    for number, line in enumerate(fence.content.split("\n"), start=1):
        match = _EXPECTED.search(line)
        if match is not None:
            found.update((fence.path, number, code) for code in match["codes"].split())
    return found
