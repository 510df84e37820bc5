"""How severe the findings of a rule are, everywhere or in some files, as the settings say; or that it is off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from veomni_opslint.file_walk import Excludes
from veomni_opslint.findings import Severity
from veomni_opslint.rule_loader import EXACT, LoadedRule, matches, require_rule
from veomni_opslint.settings import OFF, Level, Settings


class Levels(NamedTuple):
    """The levels that the settings give to rules, by code; ``by_file`` goes before ``everywhere``."""

    everywhere: dict[str, Level]
    by_file: tuple[tuple[Excludes, dict[str, tuple[int, Level]]], ...] = ()

    @property
    def off(self) -> tuple[str, ...]:
        """The codes of the rules that are off everywhere."""
        return tuple(code for code, level in self.everywhere.items() if level == OFF)

    def off_in(self, path: str) -> frozenset[str]:
        """The codes of the rules that are off in a file only."""
        if not self.by_file:
            return frozenset()
        codes = {code for _, levels in self.by_file for code in levels}
        return frozenset(code for code in codes if self._in_file(code, path) == OFF)

    def of(self, code: str, path: str) -> Severity | None:
        """The severity of a rule's findings in a file; None where it is the rule's own."""
        level = self._in_file(code, path) or self.everywhere.get(code)
        # A rule that is off and runs all the same was asked for on the command line.
        return level if isinstance(level, Severity) else None

    def _in_file(self, code: str, path: str) -> Level | None:
        """The nearest selector decides, then the last pattern."""
        best: tuple[int, Level | None] = (0, None)
        for pattern, levels in self.by_file:
            found = levels.get(code)
            if found is not None and found[0] >= best[0] and pattern.match(path):
                best = found
        return best[1]


def read_levels(settings: Settings, rules: Sequence[LoadedRule]) -> Levels:
    """What ``severity`` and ``per-file-severity`` say.

    Raises:
        RunError: a selector names no rule.
    """
    where = f"{settings.describe()}: severity"
    everywhere = {code: level for code, (_, level) in _by_code(settings.severity, rules, where).items()}
    by_file = []
    for pattern, chosen in settings.per_file_severity:
        where = f"{settings.describe()}: per-file-severity {pattern!r}"
        by_file.append((Excludes([pattern]), _by_code(chosen, rules, where)))
    return Levels(everywhere, tuple(by_file))


def _by_code(
    chosen: Iterable[tuple[str, Level]], rules: Sequence[LoadedRule], where: str
) -> dict[str, tuple[int, Level]]:
    """The level of each rule, from its nearest selector, with how near that is."""
    chosen = tuple(chosen)
    for selector, _ in chosen:
        require_rule(selector, rules, where)
    levels: dict[str, tuple[int, Level]] = {}
    for loaded in rules:
        nearest = max(
            ((matches(word, loaded.rule), level) for word, level in chosen), key=lambda one: one[0], default=None
        )
        # That a file could not be checked shows unless the very rule is off, as with `ignore`.
        if nearest is not None and nearest[0] and not (loaded.always and nearest[1] == OFF and nearest[0] < EXACT):
            levels[loaded.rule.code] = nearest
    return levels
