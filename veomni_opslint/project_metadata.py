"""What a project declares about itself in pyproject.toml."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace

from veomni_opslint.dialect import Dialect

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
# Distributions whose module has another name than their own.
MODULE_OF_DISTRIBUTION = {
    "flash_linear_attention": "fla",
    "fla_core": "fla",
    "quack_kernels": "quack",
    "flash_attn_3": "flash_attn_interface",
    "flash_attn_4": "flash_attn",
    "nvidia_cutlass_dsl": "cutlass",
    "nvidia_cudnn_frontend": "cudnn",
    "apache_tvm_ffi": "tvm_ffi",
    "opencv_python": "cv2",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "scikit_learn": "sklearn",
}
_HARDWARE = "torch"
# Extras for those who work on the project, not for those who run it.
_TOOLING = frozenset(
    {"dev", "test", "tests", "testing", "lint", "doc", "docs", "build", "release", "typing", "ci"}
    | {"bench", "benchmark", "benchmarks"}
)
# What VeOmni cannot run without, or what other packages bring along wherever it is listed.
_ALWAYS_THERE = frozenset(
    {"torch", "torchvision", "torchaudio", "transformers", "numpy", "scipy", "packaging", "decorator", "yaml", "PIL"}
    | {"setuptools", "psutil", "requests", "tqdm", "typing_extensions"}
)


def with_installed(dialect: Dialect, root: str) -> Dialect:
    """The dialect with the optional packages that the project at *root* has, without those that it always installs.

    A package of the dialect that an extra lists as well stays optional: whoever leaves out the extra is meant to do
    without it. Settings that leave out a package of the default dialect list all that are optional themselves.
    """
    core = core_modules(root)
    always = core - _extra_modules(root)
    optional = [name for name in dialect.optional_packages if name not in always]
    if set(Dialect().optional_packages) <= set(dialect.optional_packages):
        optional += sorted(extra_modules(root) - core - {*optional})
    return (
        dialect if tuple(optional) == dialect.optional_packages else replace(dialect, optional_packages=tuple(optional))
    )


def extra_modules(root: str) -> frozenset[str]:
    """Modules that not every installation of the project at *root* has: those of its extras.

    Extras with torch in them are taken to be the kinds of hardware, of which every installation has one: what all of
    them list is always there.
    """
    table = _project_table(root)
    own = next(iter(_modules([table.get("name")])), "")
    extras = table.get("optional-dependencies")
    found = {
        str(name): _modules(_written_out(listed, extras, own)) - {own}
        for name, listed in (extras.items() if isinstance(extras, dict) else ())
        if str(name).lower() not in _TOOLING
    }
    hardware = [modules for modules in found.values() if _HARDWARE in modules]
    everywhere = frozenset.intersection(*hardware) if hardware else frozenset()
    # What a distribution without a module of its own name contains is not known.
    known = (name for modules in found.values() for name in modules if not name.startswith("nvidia_"))
    return frozenset(known) - everywhere - _ALWAYS_THERE


def _written_out(listed: object, extras: object, own: str, depth: int = 0) -> list[object]:
    """Requirements, with what stands for other extras of the same project (``veomni[gpu]``) replaced by these."""
    found: list[object] = []
    for one in listed if isinstance(listed, list) else ():
        match = _NAME.match(one.strip()) if isinstance(one, str) else None
        if match is None or not own or own not in _modules([one]) or not isinstance(extras, dict) or depth > 5:
            found.append(one)
            continue
        for name in (match[2] or "").split(","):
            found += _written_out(extras.get(name.strip()), extras, own, depth + 1)
    return found


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
    names = (match[1].lower().replace("-", "_").replace(".", "_") for match in found if match is not None)
    return frozenset(MODULE_OF_DISTRIBUTION.get(name, name) for name in names)
