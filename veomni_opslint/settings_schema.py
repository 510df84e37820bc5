"""A JSON schema of the settings, for editors that check and complete them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import get_type_hints

from veomni_opslint.dialect import Dialect
from veomni_opslint.findings import Severity
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.settings import OFF, Settings

_STRING: Mapping[str, object] = {"type": "string", "minLength": 1}
_STRINGS: Mapping[str, object] = {"type": "array", "items": _STRING}
_STRING_TABLE: Mapping[str, object] = {"type": "object", "additionalProperties": _STRING}
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_TEXTS: Mapping[str, str] = {
    "select": "The rules that run.",
    "extend_select": "Rules that run as well.",
    "ignore": "Rules that do not run.",
    "per_file_ignores": "Rules whose findings are dropped, by the pattern of the files.",
    "severity": "The severity of single rules.",
    "per_file_severity": "The severity of rules, by the pattern of the files.",
    "exclude": "Patterns of files and folders that are not read.",
    "package": "The package under check: its folder, or its import name.",
    "baseline": "The file of accepted findings, from the project root.",
    "rules": "The options of single rules.",
    "dialect": "The names of the ops architecture.",
}


def settings_schema(rules: Iterable[LoadedRule]) -> str:
    """The schema (draft 7) of opslint.toml, and of ``[tool.opslint]`` in a pyproject.toml."""
    rules = tuple(rules)
    return (
        json.dumps(
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "title": "Settings of opslint",
                "type": "object",
                "additionalProperties": False,
                "definitions": {"rule": _rule(rules), "levels": _levels()},
                "properties": _properties(rules),
            },
            indent=2,
        )
        + "\n"
    )


def _properties(rules: tuple[LoadedRule, ...]) -> dict[str, object]:
    selectors = {"type": "array", "items": {"$ref": "#/definitions/rule"}}
    levels = {"$ref": "#/definitions/levels"}
    tables: Mapping[str, Mapping[str, object]] = {
        "select": selectors,
        "extend_select": selectors,
        "ignore": selectors,
        "per_file_ignores": {"type": "object", "additionalProperties": selectors},
        "severity": levels,
        "per_file_severity": {"type": "object", "additionalProperties": levels},
        "rules": _options(rules),
        "dialect": _dialect(),
    }
    types = get_type_hints(Settings)
    names = [item.name for item in fields(Settings) if item.name != "file"]
    return {
        name.replace("_", "-"): _described(tables.get(name) or _plain(types[name]), _TEXTS.get(name)) for name in names
    }


def _plain(kind: object) -> Mapping[str, object]:
    if kind is bool:
        return {"type": "boolean"}
    return _STRINGS if kind == tuple[str, ...] else _STRING


def _described(schema: Mapping[str, object], text: str | None) -> Mapping[str, object]:
    if text is None:
        return schema
    # In draft 7 nothing beside a `$ref` counts.
    return {"description": text, "allOf": [schema]} if "$ref" in schema else {"description": text, **schema}


def _rule(rules: tuple[LoadedRule, ...]) -> dict[str, object]:
    known = [word for loaded in rules for word in (loaded.rule.code, loaded.rule.name)]
    prefix = {"type": "string", "pattern": "^(?:[Aa][Ll][Ll]|[A-Za-z]+[0-9]{0,3})$"}
    return {"description": "A code, the beginning of one, a name, or ALL.", "anyOf": [{"enum": known}, prefix]}


def _levels() -> dict[str, object]:
    return {
        "type": "object",
        "propertyNames": {"$ref": "#/definitions/rule"},
        "additionalProperties": {"enum": [*map(str, Severity), OFF]},
    }


def _options(rules: tuple[LoadedRule, ...]) -> dict[str, object]:
    """The options of each rule under its code and its name; the others have none."""
    tables = {}
    for loaded in rules:
        options = {
            "type": "object",
            "description": loaded.summary,
            "additionalProperties": False,
            "properties": {name: _option(default) for name, default in loaded.options.items()},
        }
        tables.update({loaded.rule.code: options, loaded.rule.name: options})
    return {"type": "object", "additionalProperties": False, "properties": tables}


def _option(default: object) -> dict[str, object]:
    if isinstance(default, tuple | list):
        return {"type": "array", "default": list(default)}
    if isinstance(default, Mapping):
        return {"type": "object", "default": dict(default)}
    return {"type": _TYPES[type(default)], "default": default}


def _dialect() -> dict[str, object]:
    """Every field with underscores or hyphens, and to extend it if it is a list or table."""
    properties: dict[str, object] = {}
    types = get_type_hints(Dialect)
    for item in fields(Dialect):
        kind = types[item.name]
        schema = _STRING if kind is str else _STRINGS if kind == tuple[str, ...] else _STRING_TABLE
        names = [item.name] if kind is str else [item.name, f"extend_{item.name}"]
        for name in names:
            properties.update({name: schema, name.replace("_", "-"): schema})
        if kind is not str:
            properties[f"extend-{item.name}"] = schema
    return {"type": "object", "additionalProperties": False, "properties": properties}
