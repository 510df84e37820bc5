"""The values that the YAML file of a job gives for the fields of the ops config."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import Written
from veomni_opslint.yaml_documents import YamlNode, read_yaml


class JobValues(NamedTuple):
    """What the file ``name`` of the project gives by field. ``model`` is what it says is trained, empty for nothing."""

    name: str
    written: dict[str, Written]
    model: str = ""


def read_job_file(model: OpsModel, path: str) -> JobValues:
    """What the file *path* gives.

    Raises:
        RunError: it cannot be read, is no configuration of a job, or names a field that does not exist.
    """
    name = _name(path, model.project.root)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RunError(f"--config {path}: {error.strerror or error}{_near(path)}") from None
    found = read_yaml(name, data)
    if found.problem:
        place = f":{found.place.line}:{found.place.column}" if found.place is not None else ""
        raise RunError(f"--config {path}{place}: {found.problem}")
    if found.root is None:
        return JobValues(name, {})
    if found.root.kind != "mapping":
        raise RunError(f"--config {path}: holds no mapping of arguments, so it configures no job")
    paths = _paths(model)
    top = {entry.key for entry in found.root.entries}
    known = {
        name
        for one in model.argument_classes.all()
        if any(path[0] in one.fields for path in paths)
        for name in one.fields
    }
    if not top & known:
        raise RunError(f"--config {path}: none of its keys is an argument of a job ({', '.join(sorted(known))})")
    written: dict[str, Written] = {}
    for keys in paths:
        section = _section(found.root, keys)
        if section is not None:
            written.update(_fields(model, path, section))
    sections = (_section(found.root, keys[:-1]) for keys in paths)
    named = next((text for section in sections if section is not None for text in _models(model, section)), "")
    return JobValues(name, written, named)


def _models(model: OpsModel, section: YamlNode) -> Iterator[str]:
    for key in model.dialect.model_keys:
        entry = section.entry(key)
        if entry is not None and entry.value.kind == "string" and entry.value.text:
            yield entry.value.text


def _paths(model: OpsModel) -> tuple[tuple[str, ...], ...]:
    config = model.ops_config
    paths = model.argument_classes.paths_to((config.module, model.dialect.ops_config)) if config is not None else ()
    if not paths:
        raise RunError(
            f"--config: no dataclass of {model.package} has a field of type {model.dialect.ops_config}, "
            "so it is not known where a file of a job selects implementations"
        )
    return paths


def _section(node: YamlNode, keys: tuple[str, ...]) -> YamlNode | None:
    for key in keys:
        entry = node.entry(key)
        if entry is None:
            return None
        node = entry.value
    return node if node.kind == "mapping" else None


def _fields(model: OpsModel, path: str, section: YamlNode) -> dict[str, Written]:
    names = [field.name for field in model.ops_config.fields] if model.ops_config is not None else []
    written = {}
    for entry in section.entries:
        if entry.key not in names:
            hint = did_you_mean(entry.key, names)
            raise RunError(
                f"--config {path}:{entry.place.line}: {model.dialect.ops_config} has no field `{entry.key}`, "
                f"so a job ignores it{hint}"
            )
        value = entry.value
        text = value.text if value.kind in ("string", "other") else f"a {value.kind}"
        written[entry.key] = Written(text, entry.place)
    return written


def _name(path: str, root: str) -> str:
    full = os.path.abspath(path)
    relative = os.path.relpath(full, root)
    return (full if relative.startswith("..") else relative).replace(os.sep, "/")


def _near(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return ""
    return did_you_mean(name, names)
