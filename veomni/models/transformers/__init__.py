"""Model packages. Each registers how to load its modeling module, which is imported when a model is built."""

from . import decoder  # noqa: F401  registers the model
