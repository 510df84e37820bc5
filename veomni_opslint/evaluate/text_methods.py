"""The methods of strings, bytes and numbers."""

from __future__ import annotations

import re
from typing import Any

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import ListValue
from veomni_opslint.evaluate.limits import MAX_TEXT, NotPlain, Raised
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments

_FIELD = re.compile(r"(?P<literal>[^{}]*)(?:(?P<escape>\{\{|\}\})|\{(?P<name>[^!:{}]*)(?:!(?P<conversion>[rsa]))?"
                    r"(?::(?P<spec>[^{}]*))?\})?")  # fmt: skip
_STEP = re.compile(r"\.(?P<attribute>\w+)|\[(?P<index>[^\]]+)\]")
_STR = (
    "capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "index", "isalnum", "isalpha",
    "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isspace", "istitle", "isupper",
    "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust",
    "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
    "zfill", "encode", "translate",
)  # fmt: skip


def _plain_method(name: str) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        receiver, *positional = (run.plain(value) for value in arguments.positional)
        keywords = {key: run.plain(value) for key, value in arguments.keywords.items()}
        _check_growth(receiver, name, positional)
        try:
            result: Any = getattr(receiver, name)(*positional, **keywords)
        except (TypeError, ValueError, LookupError, UnicodeError) as problem:
            raise Raised(type(problem).__name__) from problem
        if isinstance(result, list):
            return ListValue(result)
        if isinstance(result, str) and len(result) > MAX_TEXT:
            raise NotPlain("is too large to follow")
        return result

    return apply


def _check_growth(receiver: str | bytes | float, name: str, positional: list[Any]) -> None:
    widths = [value for value in positional if isinstance(value, int)]
    if name in {"center", "ljust", "rjust", "zfill", "expandtabs"} and any(abs(width) > 10_000 for width in widths):
        raise NotPlain("is too large to follow")
    if name == "replace" and len(positional) > 1 and (len(str(receiver)) + 1) * len(str(positional[1])) > 10 * MAX_TEXT:
        raise NotPlain("is too large to follow")


def _join(run: Operators, arguments: Arguments) -> Value:
    separator, *rest = arguments.positional
    if len(rest) != 1:
        raise Raised("TypeError")
    parts = [run.plain(item) for item in run.ordered(rest[0])]
    if not isinstance(separator, str) or not all(isinstance(part, str) for part in parts):
        raise Raised("TypeError")
    if sum(len(part) + len(separator) for part in parts) > MAX_TEXT:
        raise NotPlain("is too large to follow")
    return separator.join(parts)


def _format(run: Operators, arguments: Arguments) -> Value:
    template, *positional = arguments.positional
    if not isinstance(template, str):
        raise Raised("TypeError")
    text, position, automatic = [], 0, 0
    while position < len(template):
        match = _FIELD.match(template, position)
        if match is None or match.end() == position:
            raise NotPlain("is formatted in a way that is not followed")
        position = match.end()
        text.append(match["literal"])
        if match["escape"]:
            text.append(match["escape"][0])
        elif match["name"] is not None:
            name = match["name"]
            if not name or name[0] in ".[":
                name, automatic = f"{automatic}{name}", automatic + 1
            value = _field(run, name, positional, arguments.keywords)
            text.append(run.formatted(value, match["conversion"] or "", match["spec"] or ""))
    return "".join(text)


def _format_map(run: Operators, arguments: Arguments) -> Value:
    template, table = arguments.positional
    plain = run.plain(table)
    return _format(run, Arguments((template,), plain, arguments.node, arguments.frame))


def _field(run: Operators, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
    first = re.split(r"[.\[]", name, maxsplit=1)[0]
    if first.isdigit():
        value = positional[int(first)] if int(first) < len(positional) else UNBOUND
    else:
        value = keywords.get(first, UNBOUND)
    if value is UNBOUND:
        raise Raised("KeyError")
    for step in _STEP.finditer(name, len(first)):
        if step["attribute"]:
            value = run.attribute(value, step["attribute"], name)
        else:
            index = step["index"]
            value = run.subscript(value, int(index) if index.isdigit() else index, name)
    return value


TEXT_METHODS: dict[type, dict[str, Handler]] = {
    str: {**{name: _plain_method(name) for name in _STR}, "join": _join, "format": _format, "format_map": _format_map},
    bytes: {name: _plain_method(name) for name in ("decode", "hex", "startswith", "endswith")},
    int: {"bit_length": _plain_method("bit_length")},
    bool: {},
    float: {"is_integer": _plain_method("is_integer")},
}
