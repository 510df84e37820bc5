"""The metadata of a rule, derived from the stem of its file: ``rules/ops101_eager_optional_import.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from veomni_opslint.findings import Finding, Fix, Place, Related, Severity

_STEM = re.compile(r"(?P<code>ops[a-z]{0,8}\d{3})_(?P<name>[a-z0-9_]+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Identity of one rule. Every rule module binds one to ``rule``: ``rule = Rule.of(__name__)``."""

    code: str
    name: str
    severity: Severity

    @classmethod
    def of(cls, module_name: str, severity: Severity = Severity.ERROR) -> Rule:
        """Derive code and name from the module's stem, so that file, page, tests and code cannot disagree.

        Raises:
            ValueError: the module is not called ``ops<number>_<name>``.
        """
        stem = module_name.rpartition(".")[2]
        match = _STEM.fullmatch(stem)
        if match is None:
            raise ValueError(f"a rule module is called ops<number>_<name>, not {stem!r}")
        return cls(match["code"].upper(), match["name"].replace("_", "-"), severity)

    def finding(self, place: Place, message: str, related: Iterable[Related] = (), fix: Fix | None = None) -> Finding:
        """Make a finding of this rule."""
        return Finding(self.code, self.name, self.severity, message, place, tuple(related), fix)
