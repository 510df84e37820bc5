"""The settings of a project: ``[tool.opslint]`` of pyproject.toml, or opslint.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, NoReturn, TypeAlias, get_type_hints

from veomni_opslint.dialect import Dialect
from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.findings import Severity

OFF: Literal["off"] = "off"
Level: TypeAlias = Severity | Literal["off"]
ROOT_MARKERS = ("pyproject.toml", "opslint.toml", ".git")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project configures; every field has a default, so that no file is needed.

    ``file`` is the file that they come from, None without one. ``severity`` is by rule as written, ``rules`` the
    options by rule as written: only the rule loader knows the rules.
    """

    file: str | None = None
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Level], ...] = ()
    per_file_severity: tuple[tuple[str, tuple[tuple[str, Level], ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    require_reason: bool = False
    package: str | None = None
    baseline: str | None = None
    rule_paths: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)

    def describe(self) -> str:
        """The file, as messages name it."""
        return self.file or "the default settings"


def load_settings(root: str, config: str | None = None) -> Settings:
    """Read the settings of the project at *root*, or of the file *config*.

    Raises:
        RunError: the file is missing, is no TOML, or holds an unknown key or a value of the wrong type.
    """
    if config is not None:
        return _read(config, required=True)
    own = os.path.join(root, "opslint.toml")
    path = own if os.path.lexists(own) else os.path.join(root, "pyproject.toml")
    if os.path.exists(path) and not os.path.isfile(path):
        raise RunError(f"{shown_path(path)}: cannot be read: it is no file")
    return _read(path, required=path == own)


def _read(path: str, *, required: bool) -> Settings:
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        document = tomllib.loads(text)
    except FileNotFoundError:
        if required:
            raise RunError(f"{shown_path(path)}: no such configuration file") from None
        return Settings()
    except OSError as error:
        raise RunError(f"{shown_path(path)}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RunError(f"{shown_path(path)}: is not UTF-8, as TOML has to be") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RunError(f"{shown_path(path)}: is not valid TOML: {error}") from None
    if os.path.basename(path) == "pyproject.toml":
        return _from_pyproject(path, text, document)
    return _Reader(path, text, "").settings(document)


def _from_pyproject(path: str, text: str, document: Mapping[str, object]) -> Settings:
    tool = document.get("tool", {})
    section = tool.get("opslint") if isinstance(tool, dict) else None
    if section is None:
        return Settings()
    reader = _Reader(path, text, "tool.opslint")
    if not isinstance(section, dict):
        reader.fail("", "", "has to be a table")
    return reader.settings(section)


TYPE_NAMES: dict[type, str] = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    tuple: "a list",
    dict: "a table",
}


class _Reader:
    """Turns the tables of one file into settings, and names file, line and key of whatever is wrong."""

    def __init__(self, path: str, text: str, prefix: str) -> None:
        self._path = shown_path(path)
        self._text = text
        self._prefix = prefix

    def settings(self, section: Mapping[str, object]) -> Settings:
        known = [item.name.replace("_", "-") for item in fields(Settings) if item.name != "file"]
        values: dict[str, object] = {"file": self._path}
        for key, value in section.items():
            if key not in known:
                self._unknown_key("", key, known)
            values[key.replace("-", "_")] = self._value(key, value)
        return Settings(**values)  # type: ignore[arg-type]

    def _value(self, key: str, value: object) -> object:
        if key in ("package", "baseline"):
            return self._string("", key, value)
        if key == "require-reason":
            return self._boolean(key, value)
        if key == "dialect":
            return self._dialect(self._table("", key, value))
        if key == "rules":
            return {name: self._table("rules", name, options) for name, options in self._table("", key, value).items()}
        if key == "per-file-ignores":
            table = self._table("", key, value)
            return tuple((pattern, self._strings(key, pattern, rules)) for pattern, rules in table.items())
        if key == "severity":
            return self._levels("", key, value)
        if key == "per-file-severity":
            table = self._table("", key, value)
            return tuple((pattern, self._levels(key, pattern, levels)) for pattern, levels in table.items())
        return self._strings("", key, value)

    def _dialect(self, table: Mapping[str, object]) -> Dialect:
        types = get_type_hints(Dialect)
        standard = Dialect()
        values: dict[str, object] = {}
        # `extend-x` adds to `x`, wherever in the table the two stand.
        for key in sorted(table, key=lambda key: key.startswith("extend")):
            name = key.replace("-", "_")
            extends = name.startswith("extend_") and name.removeprefix("extend_") in types
            name = name.removeprefix("extend_") if extends else name
            if name not in types:
                self._unknown_key("dialect", key, types)
            before = values.get(name, getattr(standard, name)) if extends else None
            if types[name] is str:
                if extends:
                    self.fail("dialect", key, f"`{name}` is one string, so it cannot be extended")
                values[name] = self._string("dialect", key, table[key])
            elif types[name] == tuple[str, ...]:
                more = self._strings("dialect", key, table[key])
                values[name] = (*before, *more) if isinstance(before, tuple) else more
            else:
                pairs = self._string_table("dialect", key, table[key])
                values[name] = {**before, **pairs} if isinstance(before, dict) else pairs
        return Dialect(**values)  # type: ignore[arg-type]

    def _levels(self, table: str, key: str, value: object) -> tuple[tuple[str, Level], ...]:
        within = f"{table}.{key}".strip(".")
        return tuple((rule, self._level(within, rule, level)) for rule, level in self._table(table, key, value).items())

    def _level(self, table: str, rule: str, level: object) -> Level:
        levels = [*map(str, Severity), OFF]
        if level not in levels:
            hint = did_you_mean(level, levels) if isinstance(level, str) else ""
            self.fail(table, rule, f"has to be one of {', '.join(levels)}, not {level!r}{hint}")
        return OFF if level == OFF else Severity(str(level))

    def _string(self, table: str, key: str, value: object) -> str:
        if not isinstance(value, str) or not value:
            self.fail(table, key, f"has to be a string, not {described(value)}")
        return value

    def _boolean(self, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            self.fail("", key, f"has to be true or false, not {described(value)}")
        return value

    def _strings(self, table: str, key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.fail(table, key, f"has to be a list of strings, not {described(value)}")
        return tuple(value)

    def _string_table(self, table: str, key: str, value: object) -> dict[str, str]:
        return {
            name: self._string(f"{table}.{key}", name, item) for name, item in self._table(table, key, value).items()
        }

    def _table(self, table: str, key: str, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            self.fail(table, key, f"has to be a table, not {described(value)}")
        return value

    def _unknown_key(self, table: str, key: str, known: Mapping[str, object] | list[str]) -> NoReturn:
        if key == "tool" and not self._prefix:
            self.fail(
                table, key, "unknown key; outside pyproject.toml the keys stand at the top, not under [tool.opslint]"
            )
        self.fail(table, key, f"unknown key{did_you_mean(key, known)}")

    def fail(self, table: str, key: str, fault: str) -> NoReturn:
        """End the run with *fault* of *key* in *table* (dotted, relative to the section)."""
        section = ".".join(part for part in (self._prefix, table) if part)
        place = f"[{section}] {key}".strip() if section else key
        line = key_line(self._text, section, key)
        raise RunError(f"{self._path}{f':{line}' if line else ''}: {place}: {fault}")


def shown_path(path: str) -> str:
    """*path* as a message names it: relative where it is below the current folder."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def key_line(text: str, section: str, key: str) -> int | None:
    """The line of *key* in the table *section* of a TOML document, where it is written in the plain way.

    tomllib tells no positions, so this reads table headers and the beginnings of lines; it answers None rather
    than a doubtful line.
    """
    target = f"{section}.{key}".strip(".")
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            current = stripped.strip("[]").split("]")[0].replace('"', "").replace(" ", "")
            found = current
        else:
            written = stripped.partition("=")[0].strip().strip("\"'")
            found = f"{current}.{written}".strip(".")
        if found == target or (stripped.startswith("[") and found.startswith(f"{target}.")):
            return number
    return None


def described(value: object) -> str:
    """The type and the value, as a message about a wrong one says it."""
    text = repr(value)
    return f"{TYPE_NAMES.get(type(value), 'this')} ({text if len(text) <= 40 else text[:37] + '...'})"
