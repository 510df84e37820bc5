"""From a YAML file to argument dataclasses: every key must exist and every value must fit, or nothing starts."""

from __future__ import annotations

import difflib
import math
import types
import typing
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

Arguments = TypeVar("Arguments")


class ArgumentsError(ValueError):
    """The configuration is wrong; the message says where and how."""


def load_arguments(cls: type[Arguments], path: str | Path, overrides: Sequence[str] = ()) -> Arguments:
    """Read *path* into the dataclass *cls*; each of *overrides* is ``section.key=value``, the value in YAML.

    Raises:
        ArgumentsError: the file cannot be read, or has a key or a value that *cls* does not know.
    """
    import yaml

    try:
        tree = _read_yaml(Path(path).read_text(encoding="utf-8"))
        for override in overrides:
            key, separator, text = override.partition("=")
            if not separator or not all(key.split(".")):
                raise ArgumentsError(f"{override!r} is not of the form section.key=value")
            _put(tree, key.split("."), _read_yaml(text))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ArgumentsError(f"{path} cannot be read: {error}") from error
    return build_arguments(cls, tree)


def build_arguments(cls: type[Arguments], tree: object, where: str = "") -> Arguments:
    """Make the dataclass *cls* from nested dictionaries.

    Raises:
        ArgumentsError: a key does not exist, is missing, or has a value of another type.
    """
    if not isinstance(tree, dict):
        raise ArgumentsError(f"{where or 'the configuration'} must be a mapping, not {tree!r}")
    hints = typing.get_type_hints(cls)
    for key in tree:
        if key not in hints:
            raise ArgumentsError(f"{_join(where, key)} does not exist{_did_you_mean(str(key), hints)}")
    for item in fields(cls):  # type: ignore[arg-type]  # every cls is a dataclass
        if item.default is MISSING and item.default_factory is MISSING and item.name not in tree:
            raise ArgumentsError(f"{_join(where, item.name)} is missing")
    values = {key: _convert(value, hints[key], _join(where, key)) for key, value in tree.items()}
    try:
        return cls(**values)
    except ValueError as error:
        raise ArgumentsError(f"{where or 'the configuration'}: {error}") from error


def check_choices(section: object) -> None:
    """Refuse a value of the dataclass *section* that the ``Literal`` of its field does not have.

    Raises:
        ArgumentsError: there is one.
    """
    for name, hint in typing.get_type_hints(type(section)).items():
        if typing.get_origin(hint) is Literal:
            _check_choice(getattr(section, name), hint, name)


def _check_choice(value: object, hint: Any, where: str) -> None:
    choices = [str(choice) for choice in typing.get_args(hint)]
    if value not in typing.get_args(hint):
        close = _did_you_mean(str(value), choices)
        raise ArgumentsError(f"{where}={value!r} is none of {', '.join(choices)}{close}")


def _read_yaml(text: str) -> object:
    import yaml

    class UniqueKeys(yaml.SafeLoader):
        """The safe loader, which would take the last of several values for one key."""

        def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
            node = super().compose_mapping_node(anchor)
            seen = set()
            for key, _ in node.value:
                if (key.tag, str(key.value)) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark
                    )
                seen.add((key.tag, str(key.value)))
            return node

    return UniqueKeys(text).get_single_data()


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin = typing.get_origin(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return build_arguments(hint, value, where)
    if origin is Literal:
        _check_choice(value, hint, where)
        return value
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        return _convert(value, next(x for x in typing.get_args(hint) if x is not type(None)), where)
    expected = origin or hint
    if expected is float and isinstance(value, str):
        # YAML 1.1 takes 1e-3 for a string.
        with suppress(ValueError):
            value = float(value)
    if expected is float and type(value) is int:
        value = float(value)
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ArgumentsError(f"{where}={value!r} must be of type {expected.__name__}")
    if expected is float and not math.isfinite(value):
        raise ArgumentsError(f"{where}={value!r} must be a finite number")
    return value


def _put(tree: Any, keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        tree = tree.setdefault(key, {}) if isinstance(tree, dict) else None
    if not isinstance(tree, dict):
        raise ArgumentsError(f"{'.'.join(keys)} is inside a value that is no section")
    tree[keys[-1]] = value


def _join(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


def _did_you_mean(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
