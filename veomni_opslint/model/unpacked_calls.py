"""Assignments that spread the result of a call over more or fewer names than it has values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.call_sites import call_sites
from veomni_opslint.model.call_targets import CallSite, CallTargets
from veomni_opslint.model.call_texts import without_nested
from veomni_opslint.model.callables import Known
from veomni_opslint.model.implementations import Implementation
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.replaced_functions import is_replaced
from veomni_opslint.model.return_lengths import ReturnLengths

_LONGEST_GAP = 8
_FURTHEST = 1000
_LONGEST_EXPRESSION = 400


class WrongLength(NamedTuple):
    """An assignment that raises ValueError: what it reaches, how many values that returns, how many names there are."""

    place: Place
    name: str
    implementation: Implementation
    callee: Known
    returned: tuple[int, ...]
    names: int
    more: bool = False
    """Whether a starred name takes any number of further values."""


class UnpackedCalls(NamedTuple):
    """Looks at texts first, and walks the modules in depth that may have such an assignment."""

    model: OpsModel
    targets: CallTargets
    lengths: ReturnLengths

    @classmethod
    def of(cls, model: OpsModel) -> UnpackedCalls:
        """For one model."""
        targets = model.call_targets
        return cls(model, targets, ReturnLengths(targets))

    def wrong(self) -> Iterator[WrongLength]:
        """Every assignment that is certain to fail for some implementation."""
        for module, facts in self.model.symbols.modules.items():
            if facts.problem is None and self._has_suspect(module, facts):
                for site in call_sites(self.model, module):
                    if site.call.unpacked and not site.call.expected_to_raise:
                        yield from self._wrong_at(site)
        for site in self.model.suspect_calls.indirect:
            if site.call.unpacked:
                yield from self._wrong_at(site)

    def _has_suspect(self, module: str, facts: FileFacts) -> bool:
        calls, text = self.model.suspect_calls, facts.text
        position, line = 0, 1
        for offset, name in calls.names.calls(module, facts):
            names = _names_before(text, offset) if _is_assigned(text, offset) else _names_around(text, offset)
            if names is None:
                continue
            line += text.count("\n", position, offset)
            position = offset
            at = line if calls.names.is_by_place(module, facts, name.root) else 0
            if any(self._may_fail(one, names) for one in calls.reached(module, facts, name.whole, at)):
                reached = self.targets.reached(calls.site(module, facts, name.whole, line))
                if any(self._may_fail(one, names) for one in reached):
                    return True
        return False

    def _may_fail(self, reached: Implementation, names: int) -> bool:
        known = [one for one in reached.possible if one is not None]
        fits = any(self.lengths.seems_to_return(one, names) for one in known)
        return (not fits and self._fails(reached, names, True) is not None) or (
            self._through_slot(reached, names, True) is not None
        )

    def _through_slot(self, reached: Implementation, names: int, fixed: bool) -> tuple[Implementation, Known] | None:
        """The first kernel by which the only possible callee returns another number of values, as it is its result."""
        if len(reached.possible) == 1 and reached.possible[0] is not None:
            for kernel, callee in self.lengths.through_slots(reached.possible[0]):
                if self._fails(kernel, names, fixed) and self.lengths.of(reached.possible[0]):
                    return kernel, callee
        return None

    def _wrong_at(self, site: CallSite) -> Iterator[WrongLength]:
        call = site.call
        fixed = not call.unpacked_rest
        names = call.unpacked
        for reached in self.targets.reached(site):
            callee = self._fails(reached, names, fixed)
            through = None if callee is not None else self._through_slot(reached, names, fixed)
            if through is not None:
                reached, callee = through  # noqa: PLW2901
            if callee is None or self._overridden(site, names, fixed) or is_replaced(self.model, site, callee):
                continue
            place = self.model.place(site.facts.path, call.unpacked_at or call.span)
            yield WrongLength(
                place, call.name, reached, callee, tuple(sorted(self.lengths.of(callee))), names, not fixed
            )
            return

    def _fails(self, reached: Implementation, names: int, fixed: bool) -> Known | None:
        """The last of the possible callees, if none of them may return that many values."""
        failing: Known | None = None
        for known in reached.possible:
            lengths = self.lengths.of(known) if known is not None else ()
            if not lengths or any(_fits(length, names, fixed) for length in lengths):
                return None
            failing = known
        return failing

    def _overridden(self, site: CallSite, names: int, fixed: bool) -> bool:
        return any(
            known is None or self._fails(Implementation("", None, [known]), names, fixed) is None
            for known in self.targets.overrides(site)
        )


def _fits(length: int, names: int, fixed: bool) -> bool:
    return length == names if fixed else length >= names


def _is_assigned(text: str, offset: int) -> bool:
    before = text[offset - 2 : offset]
    if before == "  ":
        return text[max(offset - _LONGEST_GAP, 0) : offset].rstrip(" ").endswith("=")
    return before == "= " or before[1:] == "="


def _names_around(text: str, offset: int) -> int | None:
    """How many names get the value of an expression that holds what is at *offset*, as in ``_names_before``."""
    if text.startswith("else ", offset - 5):
        before = text[max(offset - _LONGEST_EXPRESSION, 0) : offset]
        end = before.rfind(" = ")
        return None if end < 0 else _several(before[before.rfind("\n", 0, end) + 1 : end])
    if text.startswith(" in ", offset - 5):
        return _several(text[text.rfind("for ", 0, offset) + 4 : offset - 5])
    if text.startswith("    ", offset - 4):
        end = text.rfind("\n", 0, offset)
        if text.endswith(" = (", 0, end):
            return _several(text[text.rfind("\n", 0, end) + 1 : end - len(" = (")])
    return None


def _several(written: str) -> int | None:
    return _number(written.strip()) if "," in written else None


def _names_before(text: str, offset: int) -> int | None:
    """How many names what is at *offset* is assigned to, 0 where that is not known; None where it is one, or none."""
    end = text.rfind("=", 0, offset)
    written = text[text.rfind("\n", 0, end) + 1 : end].rpartition("=")[2].strip()
    if written.startswith(")"):
        end = text.rfind(")", 0, offset)
        written = text[text.rfind("(", 0, end) + 1 : end]
    elif written.isidentifier():
        if text[end - 1] != " ":
            return None  # a keyword argument
        # The result has a name first: the next line that has nothing but the name behind its equals sign.
        end = text.find(f" = {written}\n", offset, offset + _FURTHEST)
        written = text[text.rfind("\n", 0, end) + 1 : end].strip() if end >= 0 else ""
        if "," not in written or "=" in written:
            return None
    elif "," not in written:
        return None
    return _number(written)


def _number(written: str) -> int | None:
    """How many names are written, 0 where a starred one takes any number; None where they hold others."""
    targets = without_nested(written)
    if targets == "0":
        targets = without_nested(written[1:-1])
    if "*" in targets:
        return 0
    return None if "(" in targets else sum(1 for one in targets.split(",") if one.strip())
