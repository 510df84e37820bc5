"""Run in a child process: calls generated programs where there is no NPU, and tells at which imports they fail.

The arguments are the root folder and, for each program, ``path=module``. Writes JSON: for each path the lines where a
run fails, and those where one would fail after the ones before were put right.
"""

from __future__ import annotations

import builtins
import importlib
import itertools
import json
import sys
import traceback
import types
from collections.abc import Sequence

_import, _import_module = builtins.__import__, importlib.import_module
_mended: set[int] = set()
_program = ""


def main(root: str, programs: Sequence[str]) -> None:
    """Run the programs, one after the other."""
    global _program  # noqa: PLW0603 - the imports that are replaced get it from nowhere else
    sys.path.insert(0, root)
    inputs = importlib.import_module("veomni.inputs")  # opslint: ignore[broken-import] the generated tree has it
    result = {}
    for program in programs:
        path, name = program.split("=")
        module = importlib.import_module(name)
        _mended.clear()
        _program = str(module.__file__)
        builtins.__import__, importlib.import_module = _import_without_npu, _import_module_without_npu
        first = _failing(module, inputs)
        found = set(first)
        while not found <= _mended:
            _mended.update(found)
            found = _failing(module, inputs)
        builtins.__import__, importlib.import_module = _import, _import_module
        result[path] = [sorted(first), sorted(_mended)]
    print(json.dumps(result))  # noqa: T201 - its output is what it is for


def _failing(module: types.ModuleType, inputs: types.ModuleType) -> set[int]:
    """The lines of a program at which it fails, with any values of the inputs that it depends on."""
    lines = set()
    used = json.loads(module.FLAGS_USED)
    for values in itertools.product((False, True), repeat=len(used)):
        inputs.FLAGS = dict(zip(used, values, strict=True))
        try:
            module.main()
        except ModuleNotFoundError as error:
            frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == module.__file__]
            lines.add(frames[-1].lineno or 0)
        except (RuntimeError, AssertionError, ImportError, KeyError):
            # The program raises these itself, which ends it as it should.
            pass
    return lines


def _import_without_npu(name: str, *args: object) -> object:
    return _missing() if name == "torch_npu" else _import(name, *args)


def _import_module_without_npu(name: str, package: str | None = None) -> types.ModuleType:
    return _missing() if name == "torch_npu" else _import_module(name, package)


def _missing() -> types.ModuleType:
    """Fail as Python does, but let through what imports on a line that was put right."""
    frame = sys._getframe(2)
    if frame.f_code.co_filename == _program and frame.f_lineno in _mended:
        found = types.ModuleType("torch_npu")
        found.profiler = None
        return found
    raise ModuleNotFoundError("No module named 'torch_npu'", name="torch_npu")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
