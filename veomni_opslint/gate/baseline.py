"""The file of accepted findings: one a line, sorted, readable in a diff."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding
from veomni_opslint.settings import shown_path

Scope: TypeAlias = Literal["package", "repository"]

_FIRST = re.compile(r"# opslint baseline (?P<version>\d+), of the (?P<scope>package|repository)")
_NOTE = "# Accepted findings. `--prune-baseline` removes those that are gone; a finding that is not listed is new."
_LAST = "# end"
_ENTRY = re.compile(
    r"(?P<path>.+?): (?P<code>[A-Z]+\d+) (?P<message>.*) "
    r"\[(?P<fingerprint>[0-9a-f]{32})(?: (?P<mark>[0-9a-f]{8}))?\](?P<comment>\s+#.*)?"
)
_WAY_OUT = "restore it from version control, or delete it and accept what there is with `--write-baseline`"


class Entry(NamedTuple):
    """An accepted finding.

    The fingerprint decides; path, code and message are for the reader, and must fit it. ``mark`` is made of the line of
    code, and tells which of several equal findings of a file was accepted. ``comment`` is kept as written, ``line`` is
    the line in the file.
    """

    path: str
    code: str
    message: str
    fingerprint: str
    mark: str = ""
    comment: str = ""
    line: int = 0

    def __str__(self) -> str:
        mark = f" {self.mark}" if self.mark else ""
        return f"{self.readable} [{self.fingerprint}{mark}]{self.comment}"

    @property
    def readable(self) -> str:
        """What a review reads."""
        return f"{self.path}: {self.code} {self.message}"


class Baseline(NamedTuple):
    """The entries, and what was read when they were found: the package alone, or the whole repository."""

    scope: Scope
    entries: tuple[Entry, ...] = ()

    def __str__(self) -> str:
        lines = sorted(dict.fromkeys(map(str, self.entries)))
        first = f"# opslint baseline 1, of the {self.scope}"
        return "".join(f"{line}\n" for line in (first, _NOTE, *lines, _LAST))


def read_baseline(path: str) -> Baseline | None:
    """The baseline in a file; None where there is none.

    Raises:
        RunError: it cannot be read, or is damaged.
    """
    shown = shown_path(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise RunError(f"baseline {shown}: cannot be read: it is no file")
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"baseline {shown}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RunError(f"baseline {shown}: is damaged: it is not UTF-8; {_WAY_OUT}") from None
    return _parsed(text, shown)


def _parsed(text: str, shown: str) -> Baseline:
    lines = text.splitlines()
    first = _FIRST.fullmatch(lines[0].rstrip()) if lines else None
    if first is None:
        raise RunError(f"baseline {shown}: is no baseline of opslint: its first line is another; {_WAY_OUT}")
    if first["version"] != "1":
        raise RunError(
            f"baseline {shown}: is of version {first['version']}, and this opslint knows version 1; update it"
        )
    if not any(line.rstrip() == _LAST for line in lines):
        raise RunError(f"baseline {shown}: is damaged: the last line, `{_LAST}`, is missing; {_WAY_OUT}")
    entries = []
    for number, line in enumerate(lines[1:], start=2):
        match = _ENTRY.fullmatch(line.rstrip())
        if match is not None:
            mark, comment = match["mark"] or "", match["comment"] or ""
            entries.append(
                Entry(match["path"], match["code"], match["message"], match["fingerprint"], mark, comment, number)
            )
        elif line.strip() and not line.startswith("#"):
            raise RunError(f"baseline {shown}:{number}: is damaged: the line is no entry; {_WAY_OUT}")
    scope: Scope = "package" if first["scope"] == "package" else "repository"
    return Baseline(scope, tuple(entries))


def entry_of(finding: Finding, mark: str) -> Entry:
    """The entry that accepts a finding."""
    return Entry(_one_line(finding.place.path), finding.code, _one_line(finding.message), finding.fingerprint, mark)


def check_texts(findings: Iterable[Finding], entries: Iterable[Entry], path: str) -> None:
    """See that what a reader of the file *path* sees is what its digests accept.

    Raises:
        RunError: the readable part of an entry says something else than the finding that its digest is of.
    """
    by_fingerprint = {finding.fingerprint: finding for finding in findings}
    for entry in entries:
        finding = by_fingerprint.get(entry.fingerprint)
        if finding is not None and entry.readable != entry_of(finding, "").readable:
            raise RunError(
                f"baseline {shown_path(path)}:{entry.line}: is damaged: the digest accepts another finding than the "
                f"text says, {finding.code} of {_one_line(finding.place.path)}; {_WAY_OUT}"
            )


def mark_of(line: str | None) -> str:
    """A short digest of a line of code; empty without one."""
    code = (line or "").strip()
    return hashlib.sha256(code.encode(errors="surrogatepass")).hexdigest()[:8] if code else ""


def accepted(findings: Iterable[Finding], marks: Iterable[str], entries: Iterable[Entry]) -> set[Finding]:
    """The *findings* that the *entries* accept.

    Of several findings that only their place tells apart, as many are accepted as have an entry: first those whose
    line is the one that was accepted, then in the order of the file.
    """
    by_fingerprint = {entry.fingerprint: entry for entry in entries}
    groups: dict[tuple[str, str, str], list[tuple[Finding, str]]] = {}
    for finding, mark in zip(findings, marks, strict=True):
        groups.setdefault((finding.code, finding.place.path, finding.message), []).append((finding, mark))
    result: set[Finding] = set()
    for group in groups.values():
        known = [by_fingerprint[finding.fingerprint] for finding, _ in group if finding.fingerprint in by_fingerprint]
        free = [entry.mark for entry in known if entry.mark]
        at_their_line = []
        for finding, mark in group:
            if mark in free:
                free.remove(mark)
                at_their_line.append(finding)
        others = [finding for finding, _ in group if finding not in at_their_line]
        result.update([*at_their_line, *others][: len(known)])
    return result


def _one_line(text: str) -> str:
    return text if text.isprintable() else text.encode("unicode_escape").decode()
