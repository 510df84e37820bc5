"""Pretended hardware, and stand-ins for packages that are not installed, so that a laptop can resolve everything."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from .errors import is_found
from .imports import importing_frame

_VERSION = "99.0"
_WAY_TO_BACKEND = {"triton": "runtime", "triton.runtime": "driver"}
_BACKENDS = {"gpu": "cuda", "npu": "npu", "cpu": "cpu"}
# A program that asks for the attribute of an attribute until there is none must come to an end.
_DEEPEST = 12


class _AnyAttribute(type):
    """A class of a package has classes and functions of its own, and may be a decorator."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        offered = "stand_in_depth" in vars(cls)
        return arguments[0] if offered and _decorates(arguments, options) else super().__call__(*arguments, **options)

    def __getattr__(cls, name: str) -> Any:
        return _offered(name, cls.__module__, _deeper(name, cls.stand_in_depth))

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class StandIn(metaclass=_AnyAttribute):
    """Takes the place of anything that a package offers: a function, a class, a decorator, a constant."""

    stand_in_depth = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        """Accept whatever the real one accepts."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if _decorates(arguments, options) else self._next("()")

    def __getattr__(self, name: str) -> Any:
        return self._next(name)

    def __getitem__(self, _: Any) -> Any:
        return self._next("[]")

    def __iter__(self) -> Iterator[Any]:
        # Without this, iterating asks for one item after the other without end.
        return iter(())

    def _next(self, name: str) -> StandIn:
        found = StandIn()
        found.stand_in_depth = _deeper(name, self.stand_in_depth)
        return found


def _decorates(arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a call with these arguments is that of a decorator, whose function is left as it is."""
    return len(arguments) == 1 and not options and callable(arguments[0])


def _deeper(name: str, depth: int) -> int:
    if depth == _DEEPEST or (name.startswith("__") and name.endswith("__")):
        raise AttributeError(name)
    return depth + 1


def _offered(name: str, module: str, depth: int) -> Any:
    """A class, because programs inherit from what packages offer and ask for instances of it."""
    return _AnyAttribute(name, (StandIn,), {"__module__": module, "stand_in_depth": depth})


class _StandInModule(ModuleType):
    active: Any
    get_current_target: Any
    __version__ = _VERSION

    def __getattr__(self, name: str) -> Any:
        return _offered(name, self.__name__, _deeper(name, 0))


class _Distribution(importlib.metadata.Distribution):
    """What programs ask the version of; new enough for whoever needs a lowest one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {self._name}\nVersion: {_VERSION}\n",
            "top_level.txt": self._name,
        }
        return texts.get(filename)

    def locate_file(self, path: Any) -> Any:
        return path


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: frozenset[str], module_of: Mapping[str, str], path: str, backend: str) -> None:
        self._names = names
        self._module_of = module_of
        self._path = path
        self._backend = backend

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname.partition(".")[0] not in self._names or not self._asked_by_program():
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def find_distributions(self, context: Any = None) -> Iterator[importlib.metadata.Distribution]:
        """For importlib.metadata: all, or that of the name that is asked for, which may be other than the module's."""
        asked = getattr(context, "name", None)
        if not self._asked_by_program():
            return
        if asked is None:
            yield from map(_Distribution, sorted(self._names))
            return
        plain = re.sub(r"[-_.]+", "_", asked.lower())
        if self._module_of.get(plain, plain) in self._names:
            yield _Distribution(asked)

    def _asked_by_program(self) -> bool:
        """Other packages would take what a stand-in offers for the real thing, and go on with it."""
        _, file, _ = importing_frame(sys._getframe(1), skip=__file__)
        return file.startswith(self._path)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module(spec.name)

    def _module(self, name: str) -> ModuleType:
        """Programs choose a namespace of torch by the name of triton's backend, so that has its real one."""
        module = _StandInModule(name)
        if name in _WAY_TO_BACKEND:
            below = _WAY_TO_BACKEND[name]
            setattr(module, below, self._module(f"{name}.{below}"))
        elif name == "triton.runtime.driver":
            target = SimpleNamespace(backend=self._backend)
            module.active = _StandInModule("triton.runtime.driver.active")
            module.active.get_current_target = lambda: target
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""
        del module


def pretend(
    device: str,
    package_folder: str,
    optional: Iterable[str],
    npu_packages: Iterable[str],
    module_of_distribution: Mapping[str, str],
) -> list[str]:
    """Make this process look like one on *device* (``gpu:90``, ``npu`` or ``cpu``); answer what has a stand-in."""
    kind, _, capability = device.partition(":")
    npu_only = {name.partition(".")[0] for name in npu_packages} - {"torch"}
    wanted = [name for name in optional if not is_found(name) and (kind == "npu" or name not in npu_only)]
    if kind == "cpu":
        wanted = []
    sys.meta_path.append(
        _Finder(frozenset(wanted), module_of_distribution, os.path.join(package_folder, ""), _BACKENDS[kind])
    )
    if is_found("torch"):
        _pretend_in_torch(kind, int(capability or 0))
    return sorted(wanted)


def _pretend_in_torch(kind: str, capability: int) -> None:
    import torch

    cuda: Any = torch.cuda
    on_gpu = kind == "gpu"
    cuda.is_available = lambda: on_gpu
    cuda.device_count = lambda: int(on_gpu)
    cuda.current_device = lambda: 0
    cuda.get_device_capability = lambda _=None: divmod(capability, 10)
    cuda.get_device_name = lambda _=None: f"simulated {kind}:{capability}"
    if kind == "npu":
        npu: Any = _StandInModule("torch.npu")
        npu.is_available = lambda: True
        npu.device_count = lambda: 1
        npu.current_device = lambda: 0
        npu.config = StandIn()
        torch.npu = npu
        sys.modules["torch.npu"] = npu
