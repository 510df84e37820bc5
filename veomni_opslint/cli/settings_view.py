"""What ``--show-settings`` and ``--show-files`` print: what a run would go by, without making it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.rule_settings import rule_options
from veomni_opslint.settings import Settings

_PREFIX = "tool.opslint"


def render_files(project: Project) -> str:
    """The files that findings would be reported for, one a line, relative to the root."""
    paths = sorted({*project.files, *project.yaml_files, *project.documents})
    return "".join(f"{path}\n" for path in paths if project.reports(path))


def render_settings(project: Project, settings: Settings, rules: Sequence[LoadedRule]) -> str:
    """Every setting with its value of now, as the table of a pyproject.toml.

    Raises:
        RunError: a rule option is wrong.
    """
    return "".join(f"{line}\n" for line in _lines(project, settings, rules))


def _lines(project: Project, settings: Settings, rules: Sequence[LoadedRule]) -> Iterator[str]:
    yield f"# settings: {settings.describe()}"
    yield f"# root: {project.root}"
    yield f"# package under check: {project.package_path}"
    tables: dict[str, Mapping[str, object]] = {}
    yield f"[{_PREFIX}]"
    for item in fields(Settings):
        value = getattr(settings, item.name)
        key = item.name.replace("_", "-")
        if item.name == "dialect":
            tables["dialect"] = {one.name: getattr(value, one.name) for one in fields(Dialect)}
        elif item.name == "rules":
            options = rule_options(settings, rules)
            tables.update({f"rules.{name}": chosen for name, chosen in options.items() if chosen})
        elif item.name in ("severity", "per_file_ignores"):
            tables[key] = dict(value)
        elif item.name == "per_file_severity":
            tables[key] = {pattern: dict(levels) for pattern, levels in value}
        elif item.name != "file" and value is not None:
            yield f"{key} = {_toml(value)}"
    for name, table in tables.items():
        if table:
            yield ""
            yield f"[{_PREFIX}.{name}]"
            yield from (f"{_key(key)} = {_toml(value)}" for key, value in table.items())


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    # What JSON and TOML write alike; a DEL, the one exception, is no part of a sensible name.
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    plain = key.replace("-", "").replace("_", "")
    return key if plain.isascii() and plain.isalnum() else json.dumps(key, ensure_ascii=False)
