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
    """The dialect, without the optional packages that the project at *root* always installs.

    A package that an extra lists as well stays optional: whoever leaves out the extra is meant to do without it.
    """
    always = core_modules(root) - _extra_modules(root)
    optional = tuple(name for name in dialect.optional_packages if name not in always)
    return dialect if len(optional) == len(dialect.optional_packages) else replace(dialect, optional_packages=optional)


def extra_of(root: str, module: str) -> str:
    """The extra of the project at *root* that brings *module*; empty where none does."""
    top = module.partition(".")[0]
    extras = _project_table(root).get("optional-dependencies")
    for name, listed in extras.items() if isinstance(extras, dict) else ():
        if top in _modules(listed):
            return str(name)
    return ""


def core_modules(root: str) -> frozenset[str]:
    """Modules of the packages in ``[project] dependencies``; none where there is no such table that can be read."""
    return _modules(_project_table(root).get("dependencies"))


def _extra_modules(root: str) -> frozenset[str]:
    """Modules of the packages in all extras."""
    extras = _project_table(root).get("optional-dependencies")
    return frozenset().union(*map(_modules, extras.values())) if isinstance(extras, dict) else frozenset()


def _project_table(root: str) -> dict[str, object]:
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError, RecursionError):
        # Settings in the file are reported by whoever reads the settings.
        return {}
    project = document.get("project")
    return project if isinstance(project, dict) else {}


def _modules(listed: object) -> frozenset[str]:
    """The modules of the distributions in a list of requirements."""
    found = (_NAME.match(one.strip()) for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    names = (match.group().lower().replace("-", "_").replace(".", "_") for match in found if match is not None)
    return frozenset(_MODULES.get(name, name) for name in names)
