"""Run in a child process: imports generated packages and tells what they really register.

Reads JSON from stdin: the root folder, and for each package the flags to try and the conditions to judge. Writes JSON:
for each package and each set of flags the registrations in order, and which conditions hold.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import sys
import types


class _Optional:
    """Finds ``optional_a`` only while the flag HAS_A is set."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> object:
        if name == "optional_a" and sys.modules["hostinfo"].HAS_A:
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, _spec: object) -> types.ModuleType:
        module = types.ModuleType("optional_a")
        module.kernel = len
        return module

    def exec_module(self, module: object) -> None:
        """Nothing to run."""


def _host(flags: dict[str, bool]) -> types.ModuleType:
    module = types.ModuleType("hostinfo")
    module.__dict__.update(flags)
    module.available = lambda name: flags[name]
    module.name = lambda: "host_name"
    module.names = lambda: ["host_1", "host_2"]
    module.one = lambda: ["only"]
    module.change = lambda _: None
    module.kernel = len
    module.make_kernel = lambda: len
    return module


def _describe(factory: object, root: str) -> list[object]:
    if isinstance(factory, functools.partial):
        inner = _describe(factory.func, root)
        return ["partial", inner, len(factory.args), sorted(factory.keywords)]
    if isinstance(factory, type):
        return ["class", factory.__qualname__]
    code = getattr(getattr(factory, "__func__", factory), "__code__", None)
    if code is None or not code.co_filename.startswith(root):
        return ["external"]
    path = os.path.relpath(code.co_filename, root)
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.read().split("\n")
    line = code.co_firstlineno
    while lines[line - 1].lstrip().startswith("@"):
        line += 1
    return ["function", path, line]


def _holds(text: str, modules: list[types.ModuleType]) -> bool | None:
    if text.startswith("not (") and text.endswith(")"):
        inner = _holds(text[5:-1], modules)
        return None if inner is None else not inner
    text = re.sub(r"[\w.]+\([^()]*\) succeeds", "True", text)
    loop = re.fullmatch(r"for (.*) in (.*)", text)
    if loop:
        text = f"bool(list({loop[2]}))"
    match = re.fullmatch(r"(.*) matches (.*)", text)
    if match:
        text = f"({match[1]}) == ({match[2]})"
    # A name bound by a try around the import of optional_a, perhaps inside a function.
    text = re.sub(r"\bHAS_OPTIONAL_\d+\b", "hostinfo.HAS_A", text)
    text = re.sub(r"\((?:import|from) [^()]*\)", "(hostinfo.HAS_A)", text)
    if text.startswith(("import ", "from ")):
        try:
            exec(text, {})
        except ImportError:
            return False
        return True
    for module in modules:
        try:
            return bool(eval(text, dict(vars(module))))
        except Exception:  # noqa: BLE001
            continue
    return None


def _run(name: str, flags: dict[str, bool], conditions: list[str], root: str) -> dict[str, object]:
    for loaded in [other for other in sys.modules if other.split(".")[0] in {name, "optional_a"}]:
        del sys.modules[loaded]
    sys.modules["hostinfo"] = _host(flags)
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}
    log = []
    for spec, force, calls in sys.modules[f"{name}.kernel_registry"].KERNEL_REGISTRY.log:
        hardware = spec.hardware
        log.append({
            "fields": [spec.op_name, spec.variant, spec.name, hardware.device_type, hardware.min_compute_capability,
                       hardware.max_compute_capability, spec.description, force],
            "factory": _describe(spec.factory, root),
            "place": [os.path.relpath(calls[0][0], root), calls[0][2]],
            "caller": [os.path.relpath(calls[-1][0], root), calls[-1][2]],
        })  # fmt: skip
    modules = [module for other, module in sys.modules.items() if other.split(".")[0] == name]
    return {"log": log, "conditions": {text: _holds(text, modules) for text in conditions}}


def main() -> None:
    """Answer the question on stdin."""
    question = json.load(sys.stdin)
    root = question["root"]
    sys.path.insert(0, root)
    sys.meta_path.insert(0, _Optional())
    answer = {
        name: [_run(name, flags, item["conditions"], root) for flags in item["flags"]]
        for name, item in question["packages"].items()
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
