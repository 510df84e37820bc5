"""A test that runs only on an NPU is in no NPU workflow, or none runs any test of the ops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.conditions import TRUE
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_NPU_NAMES = ("npu", "ascend")
_STAND_INS = ("mock", "patch")


def check(model: OpsModel) -> Iterator[Finding]:
    workflows = model.npu_workflows
    if not workflows:
        return
    main = max(workflows, key=lambda workflow: len(workflow.commands))
    for module, facts in sorted(model.test_modules.items()):
        tests = tuple(_npu_tests(model, module, facts))
        if tests and not any(workflow.runs(facts.path, tests) for workflow in workflows):
            what = "is written for an NPU" if tests == _all_tests(facts) else f"has tests for an NPU (`{tests[0]}`)"
            yield rule.finding(
                Place(main.path, main.line_for(facts.path)),
                f"no NPU workflow runs `{facts.path}`, which {what}: other machines skip it, so that nobody sees it "
                "fail; add it to the workflow",
                [Related(Place(facts.path, 1), "the test file")],
            )
    yield from _untested_ops(model, main.path, main.line_for(""))


def _untested_ops(model: OpsModel, path: str, line: int) -> Iterator[Finding]:
    """An NPU job that runs tests, and none of those of the ops, though the ops have code for an NPU."""
    folder = f"/{model.dialect.ops_package}/"
    tests = [facts.path for facts in model.test_modules.values() if folder in facts.path]
    if not tests or any(workflow.runs(test, (test,)) for workflow in model.npu_workflows for test in tests):
        return
    kernel = next((name for name, _ in model.modules_in(model.ops_package) if model.is_npu_name(name)), None)
    if kernel is not None:
        where = min(tests).partition(folder)[0] + folder.rstrip("/")
        yield rule.finding(
            Place(path, line),
            f"no NPU workflow runs a test of `{where}`, and {model.ops_package} has code for an NPU (`{kernel}`): a "
            "change that breaks it passes every check; add the tests that can run there",
        )


def _npu_tests(model: OpsModel, module: str, facts: FileFacts) -> Iterator[str]:
    """The tests of a file that cannot run without an NPU; all of a file that is called after one."""
    text = facts.text
    guards = model.without_npu
    words = (*model.dialect.npu_guards, *model.dialect.npu_packages, *_NPU_NAMES)
    if not any(word in text or word in facts.path for word in words):
        return
    skipping = frozenset(_skipping(model, facts)) if "skip(" in text else frozenset()
    of_file = dict(facts.truths).get("pytestmark")
    whole = (
        (of_file is not None and not guards.possible(module, 0, of_file))
        or 0 in skipping
        or any(_needs_npu(model, one) for one in facts.imports)
        or _is_called_after_npu(facts)
    )
    for scope in facts.scopes:
        if scope.kind != "function" or not scope.name.startswith("test"):
            continue
        parent = facts.scopes[scope.parent]
        if parent.kind == "function":
            continue
        gates = [(one.parent, one.gate) for one in (scope, parent) if one.parent >= 0]
        if whole or scope.index in skipping or any(not guards.possible(module, at, gate) for at, gate in gates):
            yield scope.name


def _skipping(model: OpsModel, facts: FileFacts) -> Iterator[int]:
    """Functions of a file, or 0 for the file itself, that skip where there is no NPU."""
    guards = "|".join(map(re.escape, model.dialect.npu_guards))
    packages = "|".join(map(re.escape, model.dialect.npu_packages))
    skip = rf"if not [\w.]*\b(?:{guards})\b(?:\(\))?:\s*\n\s+(?:pytest\.)?skip\(|importorskip\(\s*[\"'](?:{packages})\b"
    for found in re.finditer(skip, facts.text):
        line = facts.text.count("\n", 0, found.start()) + 1
        around = [one for one in facts.scopes if one.kind == "function" and one.span[0] <= line <= one.span[2]]
        yield max((one.index for one in around), default=0)


def _needs_npu(model: OpsModel, imported: Import) -> bool:
    """Whether loading the file fails without an NPU."""
    plain = not imported.scope and not imported.level and not imported.handled and imported.when == TRUE
    return plain and imported.module.startswith(model.dialect.npu_packages)


def _all_tests(facts: FileFacts) -> tuple[str, ...]:
    return tuple(
        scope.name
        for scope in facts.scopes
        if scope.kind == "function" and scope.name.startswith("test") and facts.scopes[scope.parent].kind != "function"
    )


def _is_called_after_npu(facts: FileFacts) -> bool:
    """By its name; a file with stand-ins for the device tests what happens without one."""
    words = facts.path.rpartition("/")[2].removesuffix(".py").lower().split("_")
    return any(name in words for name in _NPU_NAMES) and not any(word in facts.text for word in _STAND_INS)
