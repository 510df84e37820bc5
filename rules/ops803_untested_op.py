"""An op or one of its implementations is named by no test of the ops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.registrations import Factory, KernelSpec, Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_COMMON = frozenset({"kernels", "__init__", "torch", "functools", "partial"})


def check(model: OpsModel) -> Iterator[Finding]:
    tests = _texts_of_tests(model)
    if not tests:
        return
    everything = "\n".join(tests.values())
    folder = f"tests/{model.dialect.ops_package}"
    for op, implementations in _registered(model).items():
        names = {op, *(_folder(model, spec.module) for specs in implementations.values() for spec in specs[1])} - {""}
        about = [text for text in tests.values() if any(_names(name, text) for name in names)]
        words = {name: _words(model, name, specs) for name, (_, specs) in implementations.items()}
        if not about and not any(_names(word, everything) for some in words.values() for word in some):
            yield rule.finding(
                next(iter(implementations.values()))[0],
                f"no test under {folder} names the op `{op}`: a change of its kernels that gives wrong numbers passes "
                "every check; add a test that compares them with eager",
            )
            continue
        for name, (place, _) in implementations.items():
            if any(_names(name, text) for text in about) or any(_names(word, everything) for word in words[name]):
                continue
            yield rule.finding(
                place,
                f"no test under {folder} names the implementation `{name}` of `{op}`: a change that makes it give "
                "wrong numbers passes every check; add it to the tests of the op",
            )


def _texts_of_tests(model: OpsModel) -> Mapping[str, str]:
    """The text of the tests of the ops and of their helpers, with the name of the file."""
    inside = f"{model.project.package_path}/"
    folder = f"/{model.dialect.ops_package}/"
    found = {path: f"{path}\n{facts.text}" for path, facts in model.files.items() if folder in f"/{path}"}
    tests = {facts.path for facts in model.test_modules.values()}
    if not tests & found.keys():
        return {}
    return {path: text for path, text in found.items() if not path.startswith(inside)}


def _registered(model: OpsModel) -> dict[str, dict[str, tuple[Place, list[KernelSpec]]]]:
    """For each op its implementations: where the first variant is registered, and all that are."""
    found: dict[str, dict[str, tuple[Place, list[KernelSpec]]]] = {}
    for spec in model.registrations.kernel_specs:
        found.setdefault(spec.op_name, {}).setdefault(spec.name, (spec.spec_place, []))[1].append(spec)
    for op in model.registrations.op_specs:
        for name, backend in () if isinstance(op.backends, Unknown) else op.backends:
            if name != model.dialect.eager:
                found.setdefault(op.name, {}).setdefault(name, (backend.place, []))
    return found


def _words(model: OpsModel, name: str, specs: list[KernelSpec]) -> frozenset[str]:
    """Names that only this implementation has: of its factory, and of what that imports from the project."""
    found = set()
    for spec in specs:
        factory = spec.factory
        if isinstance(factory, Unknown) or factory.module not in model.symbols.modules:
            continue
        found.add(factory.qualname.rpartition(".")[2])
        found |= set(_imported(model, factory))
    return frozenset(word for word in found - _COMMON if word.isidentifier() and word != name)


def _imported(model: OpsModel, factory: Factory) -> Iterator[str]:
    facts = model.module(factory.module)
    scopes = {scope.index for scope in facts.scopes if scope.qualname == factory.qualname and scope.kind == "function"}
    for imported in facts.imports:
        if imported.scope in scopes:
            yield from (one.name for one in imported.names)


def _folder(model: OpsModel, module: str) -> str:
    """The folder of an op, where it has one: ``rms_norm`` of ``veomni.ops.kernels.rms_norm.npu``."""
    parts = module.removeprefix(f"{model.ops_package}.").split(".")
    rest = [part for part in parts if part not in _COMMON]
    return rest[0] if len(rest) > 0 and "kernels" in parts else ""


def _names(word: str, text: str) -> bool:
    """Whether a text has a word, alone or as a part of an identifier: ``npu`` in ``test_npu_kernels``."""
    return word in text and re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text) is not None
