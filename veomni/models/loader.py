"""The registry of models: from a model type to the class, imported when asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType


class ModelingRegistry:
    """Functions that import a modeling module and return a class of it, by model type."""

    def __init__(self) -> None:
        self._loaders: dict[str, Callable[[str], type]] = {}
        self._configs: dict[str, type] = {}
        self._modules: dict[str, ModuleType] = {}

    def register(self, model_type: str, config: type) -> Callable[[Callable[[str], type]], Callable[[str], type]]:
        """Decorate the function that returns the class of an architecture of *model_type*, configured by *config*.

        Raises:
            ValueError: the model type is taken.
        """
        if model_type in self._loaders:
            raise ValueError(f"the model type {model_type!r} is already registered")

        def add(loader: Callable[[str], type]) -> Callable[[str], type]:
            self._loaders[model_type], self._configs[model_type] = loader, config
            return loader

        return add

    def load(self, model_type: str, architecture: str) -> type:
        """Return the class *architecture* of *model_type*.

        Raises:
            KeyError: the model type is not registered, or has no such class.
        """
        if model_type not in self._loaders:
            raise KeyError(f"no model type {model_type!r}; there are: {', '.join(sorted(self._loaders))}")
        try:
            model_class = self._loaders[model_type](architecture)
        except AttributeError as error:
            if isinstance(error.obj, ModuleType) and (error.name or "").endswith(architecture):
                raise KeyError(f"{model_type} has no architecture {architecture!r}") from error
            raise
        self._modules[model_type] = sys.modules[model_class.__module__]
        return model_class

    def loaded_module(self, model_type: str) -> ModuleType | None:
        """The module of the class that was loaded last for *model_type*, None before the first one."""
        return self._modules.get(model_type)

    def config(self, model_type: str) -> type:
        """Return the class of the configuration of *model_type*.

        Raises:
            KeyError: the model type is not registered.
        """
        if model_type not in self._configs:
            raise KeyError(f"no model type {model_type!r}; there are: {', '.join(sorted(self._configs))}")
        return self._configs[model_type]


MODELING_REGISTRY = ModelingRegistry()
