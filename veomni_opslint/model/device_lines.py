"""The lines of a file that may use CUDA by name, and the names that the file gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.facts import FileFacts

NAMESPACE = "torch.cuda"
BACKEND = "nccl"


def lines_of_words(text: str, settings: tuple[str, ...]) -> Iterator[int]:
    """The lines that may use CUDA by name, but for those that begin with one of the *settings* and its type."""
    for word in ("cuda", BACKEND):
        end, line, position = 0, 1, 0
        while (start := text.find(word, end)) >= 0:
            end = start + len(word)
            left, right = text[start - 1 : start], text[end : end + 1]
            if word == BACKEND:
                counts = left in ("'", '"', ":")
            else:
                quoted = left in ("'", '"') and right in ("'", '"', ":")
                attribute = left == "." and not (right.isalnum() or right == "_")
                counts = quoted or attribute or (right == "." and not (left.isalnum() or left == "_"))
            before = text[text.rfind("\n", 0, start) + 1 : start].lstrip() if counts else ""
            if counts and not before.startswith(("#", *settings)):
                line += text.count("\n", position, start)
                position = start
                yield line


def lines_of_aliases(facts: FileFacts) -> Iterator[int]:
    """The lines that use ``torch.cuda`` by a name that does not say so."""
    for alias in aliases_of(facts):
        if "cuda" not in alias:
            uses = re.compile(rf"\b{re.escape(alias)}\.")
            yield from (number for number, line in enumerate(facts.lines, start=1) if uses.search(line))


def aliases_of(facts: FileFacts) -> frozenset[str]:
    """Names that a file gives to ``torch.cuda``."""
    if "import cuda" not in facts.text and f"import {NAMESPACE}" not in facts.text:
        return frozenset()
    found: set[str] = set()
    for one in facts.imports:
        if one.module == "torch":
            found.update(name.bound for name in one.names if name.name == "cuda")
        elif one.module == NAMESPACE and one.bound not in ("torch", ""):
            found.add(one.bound)
    return frozenset(found)


def full_name(name: str, aliases: frozenset[str]) -> str:
    root, dot, rest = name.partition(".")
    return f"{NAMESPACE}{dot}{rest}" if root in aliases else name
