"""What a project declares about itself in pyproject.toml."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace

from veomni_opslint.dialect import Dialect

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Distributions whose module has another name than their own.
_MODULES = {"flash_linear_attention": "fla", "fla_core": "fla", "quack_kernels": "quack"}


def with_installed(dialect: Dialect, root: str) -> Dialect:
    """The dialect, without the optional packages that the project at *root* always installs."""
    always = core_modules(root)
    optional = tuple(name for name in dialect.optional_packages if name not in always)
    return dialect if len(optional) == len(dialect.optional_packages) else replace(dialect, optional_packages=optional)


def core_modules(root: str) -> frozenset[str]:
    """Modules of the packages in ``[project] dependencies``; none where there is no such table that can be read."""
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError, RecursionError):
        # Settings in the file are reported by whoever reads the settings.
        return frozenset()
    project = document.get("project")
    listed = project.get("dependencies") if isinstance(project, dict) else None
    found = (_NAME.match(one.strip()) for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    names = (match.group().lower().replace("-", "_").replace(".", "_") for match in found if match is not None)
    return frozenset(_MODULES.get(name, name) for name in names)
