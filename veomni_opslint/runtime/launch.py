"""Starting the program's interpreter with the code of ``child`` in it, whether or not opslint is installed there."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping

from veomni_opslint.errors import RunError
from veomni_opslint.runtime.child.watch import Process

_FIRST_FREE = 20
_PATIENCE = 60.0
_REQUEST, _ANSWERS, _LIFELINE = 3, 4, 5
_FIND = """
import importlib.util, sys
spec = importlib.util.find_spec(sys.argv[1])
print(*(spec and spec.submodule_search_locations or ()))
"""
# The folder of opslint must not get on the path of the program: it may hold other packages than the program has.
_BOOT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_opslint_child", sys.argv[1] + "/__init__.py",
                                              submodule_search_locations=[sys.argv[1]])
sys.modules["_opslint_child"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["_opslint_child"])
importlib.import_module("_opslint_child.keeper").keep(int(sys.argv[3]), [int(one) for one in sys.argv[4:]])
importlib.import_module("_opslint_child." + sys.argv[2]).run_from_command_line()
"""


def interpreter(python: str) -> str:
    """The path of the interpreter called *python*.

    Raises:
        RunError: there is none.
    """
    path = shutil.which(python)
    if path is None:
        raise RunError(f"--python {python}: there is no such interpreter")
    return os.path.abspath(path)


def installed_package(python: str, name: str) -> str:
    """The folder of the package *name* that the interpreter *python* would import, without importing it.

    Raises:
        RunError: there is no such interpreter or package.
    """
    command = [interpreter(python), "-c", _FIND, name]
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that the user names, with our own arguments
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"--package {name}: {python} does not say where it is: {error}") from None
    folder = done.stdout.strip()
    if not name.isidentifier() or done.returncode or not folder:
        raise RunError(f"--package {name}: {python} finds no package of that name")
    return folder


def start(key: str, python: str, module: str, request: object, environment: Mapping[str, str]) -> Process:
    """Start *module* of ``child`` with a request, as the leader of a session of its own and under a keeper."""
    answers, answering = os.pipe()
    output, printing = os.pipe()
    held, lifeline = os.pipe()
    with tempfile.TemporaryFile() as file, open(os.devnull, "rb") as nothing:
        file.write(json.dumps(request).encode())
        file.seek(0)
        # Above every descriptor that they become, so that none is overwritten before it is copied.
        moved = [
            fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
            for one in (nothing.fileno(), printing, file.fileno(), answering, held)
        ]
        standard = ((moved[0], 0), (moved[1], 1), (moved[1], 2))
        targets = (*standard, (moved[2], _REQUEST), (moved[3], _ANSWERS), (moved[4], _LIFELINE))
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
        try:
            pid = os.posix_spawn(
                python,
                [python, "-c", _BOOT, folder, module, *map(str, (_LIFELINE, _REQUEST, _ANSWERS))],
                {**os.environ, **environment},
                file_actions=[(os.POSIX_SPAWN_DUP2, source, target) for source, target in targets],
                setsid=True,
            )
        except OSError as error:
            for descriptor in (answers, output, lifeline):
                os.close(descriptor)
            raise RunError(f"{python} cannot be started: {error.strerror or error}") from None
        finally:
            for descriptor in (*moved, answering, printing, held):
                os.close(descriptor)
    return Process(key, pid, answers, output, lifeline)
