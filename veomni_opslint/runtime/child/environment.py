"""The machine as the program sees it: devices, driver, and the versions of the packages that matter."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Iterable
from typing import Any

from .errors import is_found
from .watch import Message

_DRIVER = "/proc/driver/nvidia/version"
_ALWAYS = ("torch", "transformers", "triton", "numpy")
_CANN_HOMES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")


def describe_environment(optional: Iterable[str], device_index: int | None, *, simulated: bool) -> Message:
    """The environment; ``fork_safe`` is whether an accelerator can be used in a process forked from this one."""
    found: Message = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": versions([*_ALWAYS, *optional]),
        "driver": _nvidia_driver(),
        "cuda": None,
        "cann": _cann(),
        "device": "cpu",
        "compute_capability": None,
        "devices": [],
        "fork_safe": True,
    }
    if is_found("torch"):
        found.update(_accelerators(device_index, simulated=simulated))
    return found


def versions(modules: Iterable[str]) -> dict[str, str | None]:
    """The installed version of each module's distribution; None where it is not installed."""
    owners: dict[str, list[str]] | None = None
    found: dict[str, str | None] = {}
    for name in dict.fromkeys(modules):
        if not is_found(name):
            found[name] = None
            continue
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            owners = dict(importlib.metadata.packages_distributions()) if owners is None else owners
            named = owners.get(name)
            found[name] = importlib.metadata.version(named[0]) if named else "installed"
    return found


def use_device(index: int | None) -> None:
    """Make the accelerator *index* the current one, as a rank of a job does; nothing to do without one."""
    torch = sys.modules.get("torch")
    if index is None or torch is None:
        return
    for kind in ("cuda", "npu"):
        space = getattr(torch, kind, None)
        if space is not None and space.is_available() and index < space.device_count():
            space.set_device(index)


def has_accelerator_files() -> bool:
    """Whether this machine has the device files of a GPU or an NPU."""
    return any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/nvidia0", "/dev/davinci_manager", "/dev/dxg"))


def _accelerators(index: int | None, *, simulated: bool) -> Message:
    import torch

    found: Message = {"cuda": torch.version.cuda}
    for kind, name in (("cuda", "gpu"), ("npu", "npu")):
        space: Any = getattr(torch, kind, None)
        try:
            if space is None or not space.is_available():
                continue
            if not simulated:
                use_device(index)
            found["devices"] = [str(space.get_device_name(one)) for one in range(space.device_count())]
            found["device"] = name
            if not simulated:
                torch.zeros(1, device=kind)
            if kind == "cuda":
                major, minor = space.get_device_capability()
                found["compute_capability"] = major * 10 + minor
        except (RuntimeError, OSError, AssertionError) as error:
            found["device"] = name
            found["fork_safe"] = False
            found["problem"] = str(error).strip().partition("\n")[0][:300]
        break
    return found


def _nvidia_driver() -> str | None:
    try:
        with open(_DRIVER, encoding="utf-8", errors="replace") as file:
            match = re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", file.readline())
    except OSError:
        return None
    return match[1] if match is not None else None


def _cann() -> str | None:
    for variable in _CANN_HOMES:
        home = os.environ.get(variable)
        path = os.path.join(home, "version.cfg") if home else ""
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                match = re.search(r"\d+\.\d+[\w.]*", file.read())
        except OSError:
            continue
        if match is not None:
            return match[0]
    return None
