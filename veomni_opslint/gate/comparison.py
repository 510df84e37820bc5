"""Which findings of one tree are those of another, whatever moved, was renamed or is worded otherwise meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from veomni_opslint.findings import Finding

Match = Callable[[Finding, Finding], bool]
TextOf = Callable[[str], str | None]


def new_findings(
    now: Iterable[Finding], before: Iterable[Finding], renames: Mapping[str, str], now_text: TextOf, before_text: TextOf
) -> set[Finding]:
    """The findings of *now* that have no counterpart in *before*; each of those is the counterpart of one.

    In the same file, under its new name, a counterpart has the same code and, in this order: the same message at the
    same line of code, the same message, the same but for renamed files, or the same unchanged line and column. The
    texts are those of the two trees, by path.
    """
    groups: dict[tuple[str, str], tuple[list[Finding], list[tuple[Finding, str]]]] = {}
    for finding in now:
        groups.setdefault((finding.code, finding.place.path), ([], []))[0].append(finding)
    for finding in before:
        old_path = finding.place.path
        path = renames.get(old_path, old_path)
        if (finding.code, path) in groups:
            groups[finding.code, path][1].append((finding, old_path))
    names = _renamed_names(renames)
    new: set[Finding] = set()
    for (_, path), (ours, theirs) in groups.items():
        if sorted(one.message for one in ours) == sorted(one.message for one, _ in theirs):
            continue
        if theirs:
            old_text, text = before_text(theirs[0][1]), now_text(path)
            lines = _unchanged_lines(old_text, text) if old_text is not None and text is not None else {}
            moved = [
                replace(one, place=replace(one.place, line=lines.get(one.place.line, 0)), message=one.message)
                for one, _ in theirs
            ]
            new.update(_left(ours, moved, names))
        else:
            new.update(ours)
    return new


def _left(ours: list[Finding], theirs: list[Finding], names: Callable[[str], str]) -> list[Finding]:
    """What is left of *ours* when each of *theirs*, at their lines of now (0: the line is gone), took one away."""
    passes: tuple[Match, ...] = (
        lambda one, old: one.message == old.message and one.place.line == old.place.line,
        lambda one, old: one.message == old.message,
        lambda one, old: one.message == names(old.message),
        lambda one, old: (one.place.line, one.place.column) == (old.place.line, old.place.column),
    )
    ours, theirs = list(ours), list(theirs)
    for same in passes:
        for one in tuple(ours):
            found = next((old for old in theirs if same(one, old)), None)
            if found is not None:
                ours.remove(one)
                theirs.remove(found)
    return ours


def _unchanged_lines(before: str, now: str) -> dict[int, int]:
    """The lines of *before* that are still there: their numbers then and now, from 1."""
    import difflib  # noqa: PLC0415 - slow to import, and only a run with new findings needs it

    old, new = before.split("\n"), now.split("\n")
    # Most files changed in one place, and comparing what is around it would be slow.
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    lines = {number: number for number in range(1, head + 1)}
    lines.update({len(old) - back: len(new) - back for back in range(tail)})
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for block in matcher.get_matching_blocks():
        lines.update({head + block.a + at + 1: head + block.b + at + 1 for at in range(block.size)})
    return lines


def _common(one: list[str], other: list[str]) -> int:
    """How many lines the two begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _renamed_names(renames: Mapping[str, str]) -> Callable[[str], str]:
    """A function that puts the new names of files and modules into a message."""
    words: dict[str, str] = {}
    for old, new in renames.items():
        words[old] = new
        if old.endswith(".py") and new.endswith(".py"):
            words[_module(old)] = _module(new)
            words.setdefault(_stem(old), _stem(new))
    if not words:
        return lambda message: message
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/.])(?:{alternatives})(?![\w/])")
    return lambda message: pattern.sub(lambda match: words[match.group()], message)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").replace("/", ".")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")
