"""Where a maintainer looks for a kernel of a run: its registration and its factory."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Place, Related
from veomni_opslint.registrations import Factory, KernelSpec
from veomni_opslint.runtime.observation import Failure, KernelState, Key, RuntimeRun


def static_spec(run: RuntimeRun, key: Key) -> KernelSpec | None:
    """The registration of a kernel in the source; the last one where a later one replaces it."""
    found = None
    for spec in run.model.registrations.kernel_specs:
        if (spec.op_name, spec.variant, spec.name) == key:
            found = spec
    return found


def kernel_place(run: RuntimeRun, kernel: KernelState) -> Place:
    """Where the factory is defined, or else where it is registered."""
    if kernel.factory_place is not None:
        return kernel.factory_place
    spec = static_spec(run, kernel.key)
    if spec is None:
        return package_place(run)
    in_project = isinstance(spec.factory, Factory) and spec.factory.place is not None
    return spec.factory.place or spec.place if in_project and isinstance(spec.factory, Factory) else spec.place


def package_place(run: RuntimeRun) -> Place:
    """The beginning of the ops package."""
    modules = run.model.symbols.modules
    name = run.model.ops_package
    if name in modules:
        return Place(modules[name].path, 1)
    return Place(next((facts.path for _, facts in run.model.modules_in(name)), run.model.project.package_path), 1)


def registration(run: RuntimeRun, kernel: KernelState) -> Iterator[Related]:
    """The registration, as a related place."""
    spec = static_spec(run, kernel.key)
    if spec is not None:
        yield Related(spec.place, "registered here")


def failure_place(run: RuntimeRun, failure: Failure | None) -> Place | None:
    """The innermost line of the project, the registry left out: what it raises is about what it was given."""
    return next((place for _, place in reversed(_frames(run, failure))), None)


def traceback_places(run: RuntimeRun, failure: Failure | None) -> Iterator[Related]:
    """The lines of the project that led to the innermost one, outermost first."""
    for function, place in _frames(run, failure)[:-1]:
        yield Related(place, f"called in `{function}`")


def _frames(run: RuntimeRun, failure: Failure | None) -> list[tuple[str, Place]]:
    dialect = run.model.dialect
    placed = [(frame.function, frame.place) for frame in (failure.frames if failure is not None else ())]
    outside = (dialect.register_method, dialect.resolve_method)
    return [(function, place) for function, place in placed if place is not None and function not in outside]
