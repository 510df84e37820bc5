"""Rules that are not opslint's own: those of a project's ``rule-paths`` and of installed packages."""

from __future__ import annotations

import hashlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from veomni_opslint.errors import RunError, cause_of, did_you_mean
from veomni_opslint.rule_loader import LoadedRule, load_rules, loaded_rule
from veomni_opslint.settings import ROOT_MARKERS, Settings, load_settings, shown_path

ENTRY_POINTS = "veomni_opslint.rules"
_FORM = "ops<letters><three digits>_<name>.py"
_NO_RULES = ("_", "test_", "conftest.")


def project_rules(root: str, settings: Settings) -> tuple[LoadedRule, ...]:
    """Every rule for the project at *root*: opslint's, those of packages and those of its rule paths, by code.

    Raises:
        RunError: a rule cannot be loaded, or two have one code or name.
    """
    own = (*_of_packages(), *_of_folders(root, settings))
    if not own:
        return load_rules()
    seen: dict[str, LoadedRule] = {}
    for loaded in (*load_rules(), *own):
        for word in (loaded.rule.code, loaded.rule.name):
            other = seen.setdefault(word, loaded)
            if other is not loaded:
                where = shown_path(other.file) if other.file else "a rule of opslint"
                raise RunError(f"{shown_path(loaded.file)}: `{word}` is taken by {where}; call the rule otherwise")
    return tuple(sorted((*load_rules(), *own), key=lambda loaded: loaded.rule.code))


def rules_here() -> tuple[LoadedRule, ...]:
    """The rules for the project that the current folder is in.

    Raises:
        RunError: its settings are wrong, or a rule cannot be loaded.
    """
    folder = os.getcwd()
    while not any(os.path.lexists(os.path.join(folder, name)) for name in ROOT_MARKERS):
        parent = os.path.dirname(folder)
        if parent == folder:
            return project_rules(folder, Settings())
        folder = parent
    return project_rules(folder, load_settings(folder))


def _of_folders(root: str, settings: Settings) -> Iterator[LoadedRule]:
    for written in settings.rule_paths:
        folder = os.path.abspath(os.path.join(root, written))
        where = f"{settings.describe()}: rule-paths"
        try:
            names = sorted(os.listdir(folder))
        except NotADirectoryError:
            raise RunError(f"{where}: {written}: is no folder; give the folder that holds the rules") from None
        except OSError as error:
            parent = os.path.dirname(folder)
            hint = did_you_mean(os.path.basename(folder), os.listdir(parent)) if os.path.isdir(parent) else ""
            raise RunError(f"{where}: {written}: cannot be read: {error.strerror}{hint}") from None
        stems = [name.removesuffix(".py") for name in names if name.endswith(".py") and not name.startswith(_NO_RULES)]
        if not stems:
            raise RunError(f"{where}: {written}: holds no rule; a rule is a file called {_FORM}")
        package = _package_of(folder)
        for stem in stems:
            file = os.path.join(folder, f"{stem}.py")
            yield _own_rule(_imported(f"{package}.{stem}", shown_path(file)), stem, file)


def _package_of(folder: str) -> str:
    """A package whose modules are the files of the folder, so that they can import each other relatively."""
    name = f"opslint_rules_{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
    if name not in sys.modules:
        importlib.invalidate_caches()
        module = ModuleType(name)
        module.__path__ = [folder]
        sys.modules[name] = module
    return name


def _of_packages() -> Iterator[LoadedRule]:
    if not _any_package_offers_rules():
        return
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, and few environments have such a package

    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value)):
        module = _imported(point.value, f"the rules `{point.value}` of the installed package {_distribution(point)}")
        names = [found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))]
        stems = [name for name in names if not name.startswith(_NO_RULES)]
        for name in (f"{point.value}.{stem}" for stem in stems) if stems else (point.value,):
            part = _imported(name, name)
            yield _own_rule(part, name.rpartition(".")[2], part.__file__ or name)


def _distribution(point: object) -> str:
    name = getattr(getattr(point, "dist", None), "name", None)
    return str(name) if name else "of an unknown name"


def _any_package_offers_rules() -> bool:
    """Whether the metadata of any installed package names our group; much quicker than asking for entry points."""
    group = f"[{ENTRY_POINTS}]".encode()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as scan:
                found = [entry.path for entry in scan if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in found:
            try:
                with open(os.path.join(path, "entry_points.txt"), "rb") as file:
                    if group in file.read():
                        return True
            except OSError:
                continue
    return False


def _own_rule(module: ModuleType, stem: str, file: str) -> LoadedRule:
    loaded = loaded_rule(module, stem, shown_path(file), file)
    if loaded.rule.code[3].isdigit():
        raise RunError(
            f"{shown_path(file)}: {loaded.rule.code} is a code that opslint keeps for itself; call the file {_FORM}, "
            f"such as opsx{loaded.rule.code[3:]}_{loaded.stem.partition('_')[2]}.py"
        )
    return loaded


def _imported(name: str, shown: str) -> ModuleType:
    try:
        with _no_bytecode():
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise RunError(f"{shown} cannot be imported: {cause_of(error)}") from error


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """A linter leaves the tree as it is."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
