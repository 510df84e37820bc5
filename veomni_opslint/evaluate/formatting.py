"""The text of values, in f-strings, ``%`` and ``format``."""

from __future__ import annotations

import re
from typing import Any

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.equality import Equality
from veomni_opslint.evaluate.limits import MAX_TEXT, NotPlain, Raised
from veomni_opslint.evaluate.values import EnumMember, Instance

_LARGE_WIDTH = re.compile(r"\d{5}|\*")


class Formatting(Equality):
    """Formatting values."""

    def pairs(self, table: DictValue) -> list[tuple[Value, Value]]:
        """The entries of a dict, all of which are certainly there."""
        table.check_known()
        if any(when is not None for when, _, _ in table.elements()):
            raise NotPlain("depends on too many conditions")
        return list(table.entries.values())

    def percent(self, template: str, value: Value) -> str:
        """The text of ``template % value``."""
        if _LARGE_WIDTH.search(template):
            raise NotPlain("is formatted with a large width")
        if isinstance(value, tuple):
            arguments: Any = tuple(self._text_argument(item) for item in value)
        elif isinstance(value, DictValue):
            arguments = {self.plain(k): self._text_argument(v) for k, v in self.pairs(value)}
        else:
            arguments = self._text_argument(value)
        try:
            return _checked(template % arguments)
        except (TypeError, ValueError, KeyError) as problem:
            raise Raised(type(problem).__name__) from problem

    def _text_argument(self, value: Value) -> Any:  # noqa: ANN401
        if isinstance(value, EnumMember | Instance):
            return self.formatted(value, "", "")
        return self.plain(value)

    def formatted(self, value: Value, conversion: str, spec: str) -> str:
        """The text of a value in an f-string or ``format``; raises NotPlain when it is not known."""
        if _LARGE_WIDTH.search(spec):
            raise NotPlain("is formatted with a large width")
        if isinstance(value, EnumMember):
            value = self._enum_text(value, conversion)
        elif isinstance(value, Instance):
            method = "__repr__" if conversion == "r" else "__str__"
            if value.cls.find(method) is UNBOUND or value.cls.find("__format__") is not UNBOUND:
                raise NotPlain("contains the text of an object")
            value, conversion = self.invoke(self.attribute(value, method, method)), ""
        plain = self.plain(value)
        if conversion == "r":
            plain = repr(plain)
        elif conversion == "s":
            plain = str(plain)
        elif conversion == "a":
            plain = ascii(plain)
        try:
            return _checked(format(plain, spec))
        except (TypeError, ValueError) as problem:
            raise Raised(type(problem).__name__) from problem

    def _enum_text(self, member: EnumMember, conversion: str) -> Value:
        if conversion == "r" or any(
            member.cls.find(name) is not UNBOUND for name in ("__str__", "__format__", "__repr__")
        ):
            raise NotPlain("contains the text of an object")
        if member.cls.has_external_base("enum.StrEnum", "enum.IntEnum"):
            return member.value if isinstance(member.value, int) and not conversion else str(member.value)
        return f"{member.cls.name}.{member.name}"


def _checked(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise NotPlain("is too large to follow")
    return text
