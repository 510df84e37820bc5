"""One kernel: does its hardware requirement hold here, and what does the registry answer?"""

from __future__ import annotations

import time
from typing import Any

from .errors import describe_error, missing_package
from .registry import describe_callable
from .watch import Message


def resolve_kernel(registry: Any, spec: Any, request: Message) -> tuple[Message, Any]:
    """The answer for one spec, and the kernel where there is one.

    ``status`` is ``ok``, ``gated``, ``missing``, ``broken`` or ``not-callable``; ``hardware`` is whether the
    requirement holds, None where the program cannot say.
    """
    started = time.perf_counter()
    hardware = None
    try:
        check = getattr(spec.hardware, request["hardware_check"], None)
        hardware = bool(check()) if callable(check) else None
        if hardware is False:
            return {"status": "gated", "hardware": False}, None
        kernel = getattr(registry, request["resolve_method"])(spec.op_name, spec.variant, spec.name)
    except MemoryError:
        raise
    except BaseException as error:
        missing = missing_package(error, request["package"], request["optional"], spec.name)
        status = "broken" if missing is None else "missing"
        return {"status": status, "hardware": hardware, "missing": missing, "error": describe_error(error)}, None
    answer = {
        "status": "ok" if callable(kernel) else "not-callable",
        "hardware": hardware,
        "returned": {**describe_callable(kernel), "text": _shown(kernel)},
        "seconds": round(time.perf_counter() - started, 4),
    }
    return answer, kernel if callable(kernel) else None


def _shown(value: Any) -> str:
    try:
        return repr(value)[:120]
    except Exception as error:
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
