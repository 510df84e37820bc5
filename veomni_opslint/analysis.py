"""From a project on disk to its linked model: read, extract, link."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from veomni_opslint.discovery import Project
from veomni_opslint.errors import InternalError, cause_of
from veomni_opslint.extract import extract
from veomni_opslint.facts import FileFacts
from veomni_opslint.model import OpsModel, build_model
from veomni_opslint.own_rules import project_rules
from veomni_opslint.project_metadata import with_installed
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.rule_settings import rule_options
from veomni_opslint.settings import Settings
from veomni_opslint.source import Source, decode_source, read_data, read_source
from veomni_opslint.stopwatch import Stopwatch


class Analysis(NamedTuple):
    """A project, linked."""

    project: Project
    settings: Settings
    model: OpsModel
    files: Mapping[str, FileFacts]

    def text(self, path: str) -> str | None:
        """The text of a file that was read, with plain line ends."""
        if path in self.files:
            return self.files[path].text
        data = self.model.yaml_sources.get(path, self.model.document_sources.get(path))
        return data.decode(errors="replace").replace("\r\n", "\n") if data is not None else None


def analyse(
    project: Project,
    settings: Settings,
    contents: Mapping[str, bytes] | None = None,
    watch: Stopwatch | None = None,
    rules: tuple[LoadedRule, ...] | None = None,
) -> Analysis:
    """Read and link the files of *project*; *contents* take the place of what is on disk.

    *rules* are those whose options the settings may name, by default those of the project.

    Raises:
        RunError: a rule option is wrong, or opslint failed on a file.
    """
    options = rule_options(settings, rules or project_rules(project.root, settings))
    settings = replace(settings, dialect=with_installed(settings.dialect, project.root))
    contents = contents or {}
    watch = watch or Stopwatch()
    files: dict[str, FileFacts] = {}
    problems: list[Source] = []
    with collector_paused():
        for path in project.files:
            source = decode_source(path, contents[path]) if path in contents else read_source(project.root, path)
            watch.lap("read")
            if source.problem is not None:
                problems.append(source)
                continue
            files[path] = _extract(source, settings)
            watch.lap("parse and extract")
        other: dict[str, bytes] = {}
        for path in (*project.yaml_files, *project.documents):
            data = read_data(project.root, path)
            if isinstance(data, bytes):
                other[path] = data
            else:
                problems.append(Source(path, "", data))
        watch.lap("read")
        project = project._replace(problems=(*project.problems, *problems))
        model = build_model(project, files, settings.dialect, options, other)
        watch.lap("link and evaluate")
    return Analysis(project, settings, model, files)


def _extract(source: Source, settings: Settings) -> FileFacts:
    try:
        return extract(source, settings.dialect)
    except Exception as error:
        raise InternalError(f"{source.path}: opslint failed to analyse it: {cause_of(error)}") from error


@contextmanager
def collector_paused() -> Iterator[None]:
    """What is allocated is kept until the report is made, so collecting costs a fifth of the time and frees nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # Makes what there is old, so that the next allocation does not start a collection of all of it.
            gc.freeze()
            gc.unfreeze()
            gc.enable()
