"""The registry of models: from a model type to the class, imported when asked for."""

from __future__ import annotations

from collections.abc import Callable


class ModelingRegistry:
    """Functions that import a modeling module and return a class of it, by model type."""

    def __init__(self) -> None:
        self._loaders: dict[str, Callable[[str], type]] = {}
        self._configs: dict[str, type] = {}

    def register(self, model_type: str, config: type) -> Callable[[Callable[[str], type]], Callable[[str], type]]:
        """Decorate the function that returns the class of an architecture of *model_type*, configured by *config*."""

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
            return self._loaders[model_type](architecture)
        except AttributeError as error:
            raise KeyError(f"{model_type} has no architecture {architecture!r}") from error

    def config(self, model_type: str) -> type:
        """Return the class of the configuration of *model_type*.

        Raises:
            KeyError: the model type is not registered.
        """
        if model_type not in self._configs:
            raise KeyError(f"no model type {model_type!r}; there are: {', '.join(sorted(self._configs))}")
        return self._configs[model_type]


MODELING_REGISTRY = ModelingRegistry()
