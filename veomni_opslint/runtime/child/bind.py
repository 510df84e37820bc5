"""The slots of models, bound by the program's own function, one at a time so that each has its own outcome."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .errors import describe_error, missing_package
from .isolate import Say
from .program import of_class
from .registry import describe_callable
from .watch import Message


def tell_bindings(request: Message, say: Say) -> None:
    """Make the ops config with the given values, and bind the slots of each module with it."""
    asked = request["bind"]
    config = getattr(importlib.import_module(request["config_module"]), request["ops_config"])(**asked["written"])
    bind = getattr(importlib.import_module(asked["function_module"]), asked["function"])
    for name in asked["modules"]:
        try:
            module = importlib.import_module(name)
        except MemoryError:
            raise
        except BaseException as error:
            say({"module": name, "slots": None, **_failure(error, request)})
            continue
        slots = of_class(module, request["op_slot"])
        say({"module": name, "slots": [_bound(bind, config, var, slot, request) for var, slot in slots]})


def _bound(bind: Any, config: Any, var: str, slot: Any, request: Message) -> Message:
    alone = ModuleType(var)
    setattr(alone, var, slot)
    try:
        bind(alone, config)
    except MemoryError:
        raise
    except BaseException as error:
        return {"var": var, **_failure(error, request)}
    asked = request["bind"]
    if not getattr(slot, asked["slot_guard"]):
        return {"var": var, "status": "eager"}
    return {"var": var, "status": "bound", "kernel": describe_callable(getattr(slot, asked["slot_kernel"])())}


def _failure(error: BaseException, request: Message) -> Message:
    missing = missing_package(error, request["package"], request["optional"])
    status = "error" if missing is None else "missing"
    return {"status": status, "missing": missing, "error": describe_error(error)}
