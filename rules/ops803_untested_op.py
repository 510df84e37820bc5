"""An op or one of its implementations is named by no test of the ops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.op_tests import folder_of_op, has_word, texts_of_tests
from veomni_opslint.registrations import Factory, KernelSpec, Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_COMMON = frozenset({"kernels", "__init__", "torch", "functools", "partial"})


def check(model: OpsModel) -> Iterator[Finding]:
    tests = texts_of_tests(model)
    if not tests:
        return
    folders = _folders(model)
    everything = "\n".join(tests.values())
    folder = f"tests/{model.dialect.ops_package}"
    for op, implementations in _registered(model).items():
        names = {op, *(folder for folder, ops in folders.items() if ops == {op})}
        about = [text for text in tests.values() if any(has_word(text, name) for name in names)]
        words = _own_words({name: _words(model, name, specs) for name, (_, specs) in implementations.items()}, op)
        if not about and not any(has_word(everything, word) for some in words.values() for word in some):
            yield rule.finding(
                next(iter(implementations.values()))[0],
                f"no test under {folder} names the op `{op}`: a change of its kernels that gives wrong numbers passes "
                "every check; add a test that compares them with eager",
            )
            continue
        for name, (place, _) in implementations.items():
            if any(_uses(text, name) for text in about) or any(has_word(everything, word) for word in words[name]):
                continue
            yield rule.finding(
                place,
                f"no test under {folder} names the implementation `{name}` of `{op}`: a change that makes it give "
                "wrong numbers passes every check; add it to the tests of the op",
            )


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


def _folders(model: OpsModel) -> dict[str, set[str]]:
    """The folders of kernels, with the ops that are registered in each."""
    found: dict[str, set[str]] = {}
    for spec in model.registrations.kernel_specs:
        found.setdefault(folder_of_op(model, spec.module), set()).add(spec.op_name)
    for op in model.registrations.op_specs:
        found.setdefault(folder_of_op(model, op.module), set()).add(op.name)
    return {folder: ops for folder, ops in found.items() if folder}


def _own_words(words: dict[str, frozenset[str]], op: str) -> dict[str, frozenset[str]]:
    """Of the words of each implementation those that no other one of the op has."""
    every = [word for some in words.values() for word in some]
    return {
        name: frozenset(word for word in some if every.count(word) == 1 and word != op) for name, some in words.items()
    }


def _uses(text: str, name: str) -> bool:
    """Whether a text has an implementation as a string or in an identifier; in prose it may be any word."""
    word = re.escape(name)
    return name in text and (
        re.search(rf"""["'](?:\w+[_/])?{word}["']|(?<![A-Za-z0-9]){word}_|_{word}(?![A-Za-z0-9])""", text) is not None
    )


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
