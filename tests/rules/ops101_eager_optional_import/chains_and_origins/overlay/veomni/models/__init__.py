from . import loader  # noqa: F401
