"""Link the facts of all files into the model."""

from __future__ import annotations

from collections.abc import Mapping

from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.evaluate import evaluate
from veomni_opslint.facts import FileFacts
from veomni_opslint.model.made_slots import with_made
from veomni_opslint.model.ops_config import find_ops_config
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo, find_slots
from veomni_opslint.model.symbols import Symbols


def build_model(
    project: Project,
    files: Mapping[str, FileFacts],
    dialect: Dialect,
    options: Mapping[str, Mapping[str, object]],
    other_sources: Mapping[str, bytes] | None = None,
) -> OpsModel:
    """The model of *project*, whose Python files have these facts and whose YAML files and documents this content."""
    other = other_sources or {}
    documents = frozenset(project.documents)
    symbols = Symbols.of(files, project.package_path.rpartition("/")[0])
    written = tuple(find_slots(symbols.modules, symbols, project.package, dialect))
    slots = with_made(written, symbols, project.package, dialect)
    return OpsModel(
        project=project,
        dialect=dialect,
        files=files,
        symbols=symbols,
        registrations=evaluate(_of_package(symbols.modules, project), symbols.packages, dialect),
        slots=tuple(slot for slot in slots if isinstance(slot, OpSlotInfo)),
        config_slots=tuple(slot for slot in slots if isinstance(slot, ConfigSlotInfo)),
        ops_config=find_ops_config(symbols, dialect, project.package),
        options=options,
        yaml_sources={path: data for path, data in other.items() if path not in documents},
        document_sources={path: data for path, data in other.items() if path in documents},
    )


def _of_package(modules: Mapping[str, FileFacts], project: Project) -> dict[str, FileFacts]:
    """Registrations count where the package under check makes them; tests register stand-ins."""
    inside = f"{project.package}."
    return {name: facts for name, facts in modules.items() if name == project.package or name.startswith(inside)}
