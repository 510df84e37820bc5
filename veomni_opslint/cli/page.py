"""A rule's page on a terminal: what a person wants first, laid out for the width; the whole page on request."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from veomni_opslint.findings import Severity
from veomni_opslint.reporters.style import Presentation
from veomni_opslint.reporters.table import text_table
from veomni_opslint.rule_loader import LoadedRule

_COLUMNS = 112
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<language>\w*)(?P<attributes>[^`]*)")
_PATH = re.compile(r"path=(\S+)")
_ROLE = re.compile(r"\b(before|after)\b")
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_INLINE = re.compile(r"`([^`]+)`")
_SHORTENED = ("Bad", "Good")
_IN_WORDS = "Fix"
_LEFT_OUT = ("Silent near misses",)
_INDENT = "    "
_SPACE = "\0"


class _Block(NamedTuple):
    """A heading, code with what is said above it, a table, an item of a list, or a paragraph, in a section."""

    kind: str
    section: str
    lines: tuple[str, ...]
    title: str = ""


def for_terminal(page: str, loaded: LoadedRule, presentation: Presentation, *, full: bool) -> str:
    """Render *page*; unless *full*, with one bad and one good example, and no near misses."""
    blocks = list(_blocks(page))
    shown = blocks if full else list(_first_wanted(blocks))
    lines = [line for block in shown for line in (*_rendered(block, presentation), "")]
    lines[1:1] = [presentation.dim(_kind(loaded))]
    left = sum(block.kind == "code" for block in blocks) - sum(block.kind == "code" for block in shown)
    lines.append(_silencing(loaded, blocks, presentation))
    if left:
        lines.append(
            presentation.dim(
                f"{left} more examples, also of what is not reported: opslint explain {loaded.rule.code} --full"
            )
        )
    return "\n".join(lines).rstrip("\n") + "\n"


def _silencing(loaded: LoadedRule, blocks: Sequence[_Block], presentation: Presentation) -> str:
    bad = [block for block in blocks if block.section == "Bad" and ".py" in block.title]
    if any(loaded.rule.code in line for block in bad for line in block.lines):
        comment = presentation.code(f"# opslint: ignore[{loaded.rule.code}] the reason")
        return f"To silence one, a comment on its line: {comment}"
    return f"To silence a file: {presentation.code('per-file-ignores')} in the settings; it takes no comments"


def _kind(loaded: LoadedRule) -> str:
    return f"{loaded.rule.severity}, with a fix (--fix)" if loaded.fixable else str(loaded.rule.severity)


def _first_wanted(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """All but near misses; of examples the first: what is said of it and the files that follow; of fixes the words."""
    done: set[str] = set()
    seen: set[str] = set()
    for block in blocks:
        if block.section in _LEFT_OUT or block.section in done:
            continue
        if block.section in _SHORTENED and block.kind == "code":
            seen.add(block.section)
        elif block.section in seen or (block.section == _IN_WORDS and block.kind == "code"):
            done.add(block.section)
            continue
        yield block


def _blocks(page: str) -> Iterator[_Block]:
    lines = page.splitlines()
    section = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.fullmatch(line)
        end = at + 1
        if fence is not None:
            while end < len(lines) and lines[end] != fence["ticks"]:
                end += 1
            yield _Block("code", section, tuple(lines[at + 1 : end]), _title(fence["attributes"]))
            end += 1
        elif line.startswith("#"):
            section = line.lstrip("# ")
            yield _Block("heading", section, (section,))
        elif line.startswith(_INDENT):
            while end < len(lines) and (lines[end].startswith(_INDENT) or not lines[end]):
                end += 1
            yield _Block("code", section, tuple(textwrap.dedent("\n".join(lines[at:end])).rstrip().splitlines()))
        elif line.strip():
            while end < len(lines) and lines[end].strip() and not _starts(lines[end]):
                end += 1
            kind = "table" if line.startswith("|") else "item" if _ITEM.match(line) else "text"
            yield _Block(kind, section, tuple(lines[at:end]))
        at = end


def _title(attributes: str) -> str:
    path, role = _PATH.search(attributes), _ROLE.search(attributes)
    return ", ".join(found[1] for found in (path, role) if found is not None)


def _starts(line: str) -> bool:
    return line.startswith("#") or _FENCE.fullmatch(line) is not None or _ITEM.match(line) is not None


def _rendered(block: _Block, presentation: Presentation) -> Iterator[str]:
    if block.kind == "heading":
        yield presentation.bold(block.section)
    elif block.kind == "code":
        if block.title:
            yield presentation.dim(f"{_INDENT}# {block.title}")
        yield from (_code(line, block.section, presentation) for line in block.lines)
    elif block.kind == "table":
        rows = [[cell.strip().replace("`", "") for cell in line.strip("| ").split(" | ")] for line in block.lines]
        yield from text_table(rows[0], rows[2:], presentation).splitlines()
    else:
        yield from _wrapped(block, presentation)


def _code(line: str, section: str, presentation: Presentation) -> str:
    """A line of an example; of a bad one, what would be reported stands out."""
    if not line:
        return ""
    marked = re.search(r"(?:#|<!--) OPS\w+", line) if section == "Bad" else None
    if marked is None:
        return _INDENT + presentation.code(line)
    rest = presentation.severe(line[marked.start() :], Severity.ERROR)
    return _INDENT + presentation.code(line[: marked.start()]) + rest


def _wrapped(block: _Block, presentation: Presentation) -> Iterator[str]:
    """Running text in lines of the terminal; code stays whole, so that it can be copied."""
    item = _ITEM.match(block.lines[0])
    text = _INLINE.sub(lambda found: found[0].replace(" ", _SPACE), " ".join(line.strip() for line in block.lines))
    lines = textwrap.wrap(
        text,
        presentation.columns or _COLUMNS,
        subsequent_indent=" " * item.end() if item is not None else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from (_styled(line.replace(_SPACE, " "), presentation) for line in lines)


def _styled(line: str, presentation: Presentation) -> str:
    return _INLINE.sub(lambda found: presentation.code(found[1]) if presentation.colour else found[0], line)
