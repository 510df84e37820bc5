"""Assignments that spread the result of a call over more or fewer names than it has values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from veomni_opslint.model.suspect_calls import shallow_site

_REVERSED = re.compile(r"\(([\w.]+(?:\)\(repus(?![\w.]))?)[ \n]*=[ \t]*([^\n=]*)")


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


@dataclass(frozen=True, slots=True)
class UnpackedCalls:
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
        wanted = {scope.name for facts in self.model.symbols.modules.values() for scope in facts.scopes}
        wanted.update(name for _, name in (*self.targets.slots, *self.targets.pointers))
        wanted.add(self.model.dialect.loss_function)
        wanted.add("apply")
        for module, facts in self.model.symbols.modules.items():
            here = self.model.suspect_calls.attributes(module, facts)
            if any(
                self._is_suspect(module, facts, *one)
                for one in _assignments(facts.text, lambda last, here=here: last in wanted or last in here)  # type: ignore[misc]
            ):
                for site in call_sites(self.model, module):
                    if site.call.unpacked and not site.call.expected_to_raise:
                        yield from self._wrong_at(site)

    def _is_suspect(self, module: str, facts: FileFacts, name: str, names: int, offset: int) -> bool:
        site = shallow_site(module, facts, name, facts.text.count("\n", 0, offset) + 1)
        for reached in self.targets.reached(site):
            known = [one for one in reached.possible if one is not None]
            fits = any(self.lengths.seems_to_return(one, names) for one in known)
            if (not fits and self._fails(reached, names, True)) or self._through_slot(reached, names, True):
                return True
        return False

    def _through_slot(self, reached: Implementation, names: int, fixed: bool) -> tuple[Implementation, Known] | None:
        """The first kernel by which the only possible callee returns another number of values, as it is its result."""
        if len(reached.possible) == 1 and reached.possible[0] is not None:
            for kernel, callee in self.lengths.through_slots(reached.possible[0]):
                if self._fails(kernel, names, fixed):
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
            place = self.model.place(site.facts.path, call.span)
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


def _assignments(text: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, int, int]]:
    """Calls of wanted names whose result is unpacked: name, number of names (0: not known), offset."""
    size = len(text)
    for match in _REVERSED.finditer(text[::-1]):
        before = match[2]
        name = match[1][::-1]
        if ("," in before or before.startswith(")")) and wanted(name[name.rfind(".") + 1 :]):
            written = before[::-1].strip()
            if written.startswith(")"):
                end = text.rfind(")", 0, size - match.end(1))
                written = text[text.rfind("(", 0, end) + 1 : end]
            targets = without_nested(written)
            names = len([one for one in targets.split(",") if one.strip()])
            yield name, 0 if "*" in targets else names, size - match.end(1)
