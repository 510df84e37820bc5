"""Where the registries enter code: the factories that they call, and the backends that any host may apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from veomni_opslint.facts import Span
from veomni_opslint.model.linked_project import LinkedProject
from veomni_opslint.model.per_model_patches import PerModelPatches
from veomni_opslint.registrations import Unknown


def called_factories(project: LinkedProject) -> Iterator[tuple[str, str | tuple[int, int]]]:
    """The factories of kernels: functions by name, lambdas by line and column (from 0, in bytes)."""
    modules = {facts.path: module for module, facts in project.symbols.modules.items()}
    for spec in project.registrations.kernel_specs:
        factory = spec.factory
        if isinstance(factory, Unknown):
            continue
        if factory.qualname:
            yield factory.module, factory.qualname
        if factory.kind == "lambda" and factory.place is not None:
            at = factory.place
            line = project.files[at.path].lines[at.line - 1][: at.column - 1]
            yield modules[at.path], (at.line, len(line.encode()))


def backends_for_any_host(
    project: LinkedProject, patches: Iterable[PerModelPatches]
) -> Iterator[tuple[str, Span, str]]:
    """Module, place and entry of the backends, registered or added for a model, that require no NPU package."""
    npu_packages = frozenset(project.dialect.npu_packages)
    for spec in project.registrations.op_specs:
        for _, backend in () if isinstance(spec.backends, Unknown) else spec.backends:
            if isinstance(backend.requires, Unknown) or isinstance(backend.entry, Unknown):
                continue
            if npu_packages.isdisjoint(backend.requires):
                at = backend.entry_place
                yield spec.module, (at.line, at.column - 1, at.end_line, at.end_column - 1), backend.entry
    for one in patches:
        for extra in one.extra_backends:
            if extra.entry and extra.requires is not None and npu_packages.isdisjoint(extra.requires):
                yield one.module, extra.entry_span, extra.entry
