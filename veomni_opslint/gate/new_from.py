"""Only what is new since a revision: its tree is analysed like the present one, and the findings are compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from veomni_opslint.analysis import Analysis, analyse
from veomni_opslint.discovery import Project, discover
from veomni_opslint.errors import NoPackageError, RunError
from veomni_opslint.findings import Finding
from veomni_opslint.gate.comparison import new_findings
from veomni_opslint.gate.git import Repository
from veomni_opslint.gate.revision_tree import revision_tree
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.rule_run import apply_rules, filter_findings
from veomni_opslint.settings import Settings


class NewSince(NamedTuple):
    """The findings that are new, and a reason to distrust that."""

    findings: tuple[Finding, ...]
    doubt: str | None = None


def new_since(
    revision: str,
    findings: tuple[Finding, ...],
    analysis: Analysis,
    settings: Settings,
    rules: tuple[LoadedRule, ...],
    selected: Sequence[LoadedRule],
) -> NewSince:
    """The *findings* of the present tree that the tree of *revision* does not have, under the settings of now.

    Raises:
        RunError: the revision cannot be read, or opslint failed on it.
    """
    project = analysis.project
    repository = Repository(project.root)
    commit = repository.commit(revision)
    if not findings:
        return NewSince(())
    with revision_tree(repository, commit, project.package_path if project.reads_package_only else None) as folder:
        try:
            then = _analysis_of(folder, project, settings, rules)
        except NoPackageError:
            return NewSince(findings, f"--new-from {revision}: there is no package to check, so every finding is new")
        except RunError as error:
            raise type(error)(f"--new-from {revision}: {error}") from error.__cause__
        before = filter_findings(apply_rules(selected, then.model)[0], then, rules, selected).findings
        new = new_findings(findings, before, {}, analysis.text, then.text)
        if new:
            renames = repository.renames(commit, folder)
            if renames:
                new = new_findings(findings, before, renames, analysis.text, then.text)
    return NewSince(tuple(finding for finding in findings if finding in new))


def _analysis_of(folder: str, project: Project, settings: Settings, rules: tuple[LoadedRule, ...]) -> Analysis:
    """As much of the revision as was read of the present tree, and all of it reported on: files may have moved."""
    package = os.path.join(folder, project.package_path)
    start = package if project.reads_package_only and os.path.isdir(package) else folder
    asked = (os.path.join(folder, path) for path in sorted(project.requested or ()) if path)
    paths = [start, *(path for path in asked if os.path.isfile(path))]
    then, _ = discover(paths, root=folder, settings=settings)
    return analyse(then, settings, rules=rules)
