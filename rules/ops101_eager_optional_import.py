"""Importing the ops package or a model package imports an optional dependency, which may not be installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.eager_imports import EagerImport
from veomni_opslint.model.loading import Step
from veomni_opslint.proposals import NotPossibleError, Proposal, module_of
from veomni_opslint.registrations import Factory
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    asked_for = dict(_asked_for(model))
    faults = [
        fault
        for fault in model.eager_imports.unguarded(_roots(model), asked_for)
        if not _is_called_for_a_factory(model, fault.step)
    ]
    origins: dict[tuple[str, str], list[Place]] = {}
    for fault in faults:
        if fault.step in asked_for:
            origins.setdefault(_written(fault), []).append(_origin(model, asked_for, fault))
    written = {_written(fault) for fault in faults if fault.step not in asked_for}
    for fault in faults:
        related = list(chain_of(model, fault.chain))
        if fault.step not in asked_for:
            place = place_of_step(model, fault.step)
            if fault.step.called_from is None:
                related = [one for one in related if one.place != place]
            asked = "the patch config asks for it here"
            related += (Related(place, asked) for place in origins.get(_written(fault), ()))
            yield rule.finding(place, _message(model, fault), related)
        elif _written(fault) not in written:
            yield rule.finding(_origin(model, asked_for, fault), _message(model, fault), related[1:])


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.deferral import deferral  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - as above

    module = module_of(model, finding.place.path)
    for imported in model.module(module).imports:
        if model.place(finding.place.path, imported.span) == finding.place:
            return put_back_or(model, finding.place, lambda: deferral(model, module, imported))  # noqa: B023 - returned
    raise NotPossibleError("it is imported by a call, whose value may be used, or by code that is held in a string")


def place_of_step(model: OpsModel, step: Step) -> Place:
    """Where an import can be deferred: its own place, or the call by which it runs when its module is loaded."""
    module, span = step.place
    return model.place(model.module(module).path, span)


def chain_of(model: OpsModel, chain: Iterable[Step]) -> Iterator[Related]:
    """The links of a chain as related places, from the root on."""
    for step in chain:
        if step.module in model.symbols.modules:
            name = "." * step.imported.level + step.imported.module
            names = ", ".join(one.name for one in step.imported.names)
            what = f"{names} from {name}" if names else name
            path = model.module(step.module).path
            if step.called_from is not None:
                yield Related(place_of_step(model, step), f"{step.place[0]} calls a function that imports {what}")
            yield Related(model.place(path, step.imported.span), f"{step.module} imports {what}")


def _roots(model: OpsModel) -> Iterator[str]:
    """The ops package, the models package and what holds them; each public package of ops; each generated file."""
    yield from (
        root for root in (model.ops_package, model.models_package, model.package) if root in model.symbols.modules
    )
    for module, _ in model.modules_in(model.ops_package):
        below = module.removeprefix(model.ops_package).split(".")[1:]
        if module in model.symbols.packages and not any(
            part.startswith("_") or model.implementations.is_named_after_one(part) or model.is_npu_name(part)
            for part in below
        ):
            yield module
    for module, _ in model.modules_in(model.package):
        if module.rpartition(".")[2].startswith(model.dialect.generated_prefix):
            yield module


def _asked_for(model: OpsModel) -> Iterator[tuple[Step, str]]:
    """Imports at the top of generated files as their patch configs ask for them, and the paths of the configs."""
    for config in model.patch_imports.values():
        for imported in config.imports:
            packages = model.loading.packages(imported)
            if not imported.handled and model.loading.certain(imported.when, packages[0] if packages else ""):
                yield Step(config.generated, imported, 0, tried=False, certain=True), config.path


def _is_called_for_a_factory(model: OpsModel, step: Step) -> bool:
    """Whether the import stands in a function whose result is given as ``factory=``, which is OPS102."""
    if step.scope == 0 or step.module not in model.symbols.modules:
        return False
    called = re.compile(rf"\b{re.escape(model.module(step.module).scopes[step.scope].name)}\(")
    for spec in model.registrations.kernel_specs:
        if isinstance(spec.factory, Factory):
            held = re.search(
                rf"(?m)^{re.escape(spec.factory.text)}\s*(?::[^=\n]+)?=(.*)", model.module(spec.module).text
            )
            if called.search(spec.factory.text) or (held is not None and called.search(held[1])):
                return True
    return False


def _origin(model: OpsModel, asked_for: Mapping[Step, str], fault: EagerImport) -> Place:
    return model.place(asked_for[fault.step], fault.step.imported.span)


def _written(fault: EagerImport) -> tuple[str, str]:
    return fault.step.module, fault.step.imported.module


def _message(model: OpsModel, fault: EagerImport) -> str:
    package, root = fault.package, fault.root
    if root.rpartition(".")[2].startswith(model.dialect.generated_prefix) or root not in model.symbols.modules:
        return (
            f"loading {root.rpartition('.')[2]} imports the optional {package}: where that is not installed the model "
            f"cannot be built, whichever implementation is configured; let an {model.dialect.op_slot} choose the "
            "kernel, or import the package inside the function that uses it"
        )
    return (
        f"`import {root}` imports the optional {package}: where that is not installed the import fails, whichever "
        "kernels are configured; import it inside the factory or function that uses it"
    )
