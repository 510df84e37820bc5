"""What modules of the program hold once they are imported: slots, and the fields of the ops config."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .errors import describe_error, missing_package
from .isolate import Say
from .watch import Message


def tell_slots(request: Message, say: Say) -> None:
    """Import each module that has slots, and say which ones it has."""
    for name in request["slot_modules"]:
        answer: Message = {"module": name}
        try:
            module = importlib.import_module(name)
            answer["slots"] = [
                {"var": var, "op_name": slot.op_name, "variant": slot.variant}
                for var, slot in of_class(module, request["op_slot"])
            ]
            answer["config_slots"] = [
                {"var": var, "field": slot.field_name} for var, slot in of_class(module, request["config_slot"])
            ]
        except MemoryError:
            raise
        except BaseException as error:
            answer = {
                "module": name,
                "missing": missing_package(error, request["package"], request["optional"]),
                "error": describe_error(error),
            }
        say(answer)


def tell_config_fields(request: Message, say: Say) -> None:
    """Say which fields the ops config has."""
    module = importlib.import_module(request["config_module"])
    config: Any = getattr(module, request["ops_config"])
    try:
        hints = get_type_hints(config)
    except (NameError, TypeError, AttributeError):
        hints = {}
    say(
        {
            "fields": [
                {
                    "name": field.name,
                    "default": field.default if isinstance(field.default, str) else None,
                    "choices": _choices(hints.get(field.name)),
                }
                for field in dataclasses.fields(config)
            ]
        }
    )


def of_class(module: Any, class_name: str) -> list[tuple[str, Any]]:
    """The attributes of that class in the order of their names, as a program that walks the module sees them."""
    found = []
    for name in sorted(vars(module)):
        value = vars(module)[name]
        if type(value).__name__ == class_name and not inspect.isclass(value):
            found.append((name, value))
    return found


def _choices(hint: Any) -> list[str] | None:
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Literal:
            values = get_args(part)
            return list(values) if all(isinstance(one, str) for one in values) else None
    return None
