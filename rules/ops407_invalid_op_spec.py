"""An OpSpec, a BackendSpec or a table of targets says what the registry of ops rejects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, statements_of, text_of
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_places import argument_place
from veomni_opslint.model.per_model_patches import PerModelPatches
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.registrations import OpSpec, Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_ENTRY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_GLOBAL, _PER_MODEL = "GLOBAL", "PER_MODEL"


def check(model: OpsModel) -> Iterator[Finding]:
    for spec in model.registrations.op_specs:
        yield from _slot(model, spec)
        yield from _default(model, spec)
    yield from _backends(model)
    yield from _targets(model)


def _slot(model: OpsModel, spec: OpSpec) -> Iterator[Finding]:
    slot = spec.global_slot
    if isinstance(spec.scope, Unknown) or isinstance(slot, Unknown):
        return
    if spec.scope == _GLOBAL and slot is None:
        yield rule.finding(
            _argument(model, spec, "scope"),
            f"the op `{spec.name}` is GLOBAL and has no global_slot: applying the ops configuration raises ValueError "
            'for every job; add `global_slot="module:_pointer"`, or make the op PER_MODEL',
        )
    elif spec.scope == _PER_MODEL and slot is not None:
        yield rule.finding(
            _argument(model, spec, "global_slot"),
            f"the op `{spec.name}` is PER_MODEL and has a global_slot: only GLOBAL ops bind theirs, so the pointer "
            f"`{slot.partition(':')[2] or slot}` keeps its first value; remove it, or make the op GLOBAL",
        )
    elif slot is not None and not _ENTRY.fullmatch(slot):
        yield rule.finding(_argument(model, spec, "global_slot"), _of_entry("global_slot", slot))


def _default(model: OpsModel, spec: OpSpec) -> Iterator[Finding]:
    if isinstance(spec.default, Unknown) or isinstance(spec.backends, Unknown):
        return
    names = [name for name, _ in spec.backends]
    added = [
        one.name
        for patches in model.per_model_patches
        for one in patches.extra_backends
        if one.op_name == spec.name and not one.barred
    ]
    if spec.default in (*names, *added, model.dialect.eager):
        return
    if not all(patches.complete for patches in model.per_model_patches):
        return
    near = nearest(spec.default, (*names, model.dialect.eager))
    what = (
        "the pointer silently keeps its first value" if spec.scope == _GLOBAL else "building a model raises ValueError"
    )
    yield rule.finding(
        _argument(model, spec, "default"),
        f"the default `{spec.default}` of the op `{spec.name}` is none of its backends"
        + (f" (did you mean `{near}`?)" if near else "")
        + f": with the default configuration {what}; name one of {', '.join([*names, model.dialect.eager])}",
    )


def _backends(model: OpsModel) -> Iterator[Finding]:
    """Every ``BackendSpec(…)`` that is written somewhere, whether an op has it or a model adds it."""
    tokens = _tokens(model)
    for module, facts in model.modules_in(model.package):
        if f"{model.dialect.backend_spec}(" not in facts.text or facts.problem is not None or is_test(facts.path):
            continue
        for node in _code_with(facts, model.dialect.backend_spec):
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == model.dialect.backend_spec:
                yield from _backend(model, module, facts, node, tokens)


def _code_with(facts: FileFacts, name: str) -> Iterator[ast.AST]:
    """The code at module level and in the functions that mention *name*."""
    if facts.tree is not None:
        yield from ast.walk(facts.tree)
    for scope in facts.scopes:
        outermost = scope.kind == "function" and facts.scopes[scope.parent].kind in ("module", "class")
        if outermost and f"{name}(" in text_of(facts, scope.span):
            yield from (node for statement in statements_of(facts, scope) for node in ast.walk(statement))


def _backend(
    model: OpsModel, module: str, facts: FileFacts, node: ast.Call, tokens: tuple[list[str], Place] | None
) -> Iterator[Finding]:
    given = dict(zip(model.dialect.backend_spec_fields, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    for field in ("entry", "side_effect"):
        text = _text(model, module, given.get(field))
        if text is not None and not _ENTRY.fullmatch(text):
            yield rule.finding(model.place(facts.path, span_of(given[field])), _of_entry(field, text))
    requires = given.get("requires")
    if requires is None or tokens is None:
        return
    if _text(model, module, requires) is not None:
        yield rule.finding(
            model.place(facts.path, span_of(requires)),
            "`requires` is a string, which is read letter by letter: selecting the backend raises ValueError; "
            f'write a tuple, `("{_text(model, module, requires)}",)`',
        )
    for element in requires.elts if isinstance(requires, ast.Tuple | ast.List | ast.Set) else ():
        token = _text(model, module, element)
        if token is not None and token not in tokens[0]:
            near = nearest(token, tokens[0])
            yield rule.finding(
                model.place(facts.path, span_of(element)),
                f"`{token}` is no package that {model.dialect.check_requires} knows"
                + (f" (did you mean `{near}`?)" if near else "")
                + ": selecting the backend raises ValueError, whatever is installed; use one of "
                f"{', '.join(tokens[0])}, or teach the function the new one",
                [Related(tokens[1], f"{model.dialect.check_requires} knows the others")],
            )


def _tokens(model: OpsModel) -> tuple[list[str], Place] | None:
    """The packages that the project's check compares with, if it rejects all others; and where it is."""
    name = model.dialect.check_requires
    for _, facts in model.modules_in(model.ops_package):
        if f"def {name}(" not in facts.text:
            continue
        for scope in facts.scopes:
            if scope.kind == "function" and scope.parent == 0 and scope.name == name:
                body = statements_of(facts, scope)
                tokens = (
                    _compared(facts, body)
                    if any(_rejects(one) for statement in body for one in ast.walk(statement))
                    else []
                )
                return (tokens, model.place(facts.path, scope.span)) if tokens else None
    return None


def _rejects(node: ast.AST) -> bool:
    """Whether a statement raises for what it does not know: in an ``else``, a ``case _``, after ``not in``."""
    refused: list[ast.stmt] = []
    if isinstance(node, ast.If):
        tested = [operator for one in ast.walk(node.test) if isinstance(one, ast.Compare) for operator in one.ops]
        refused = node.body if any(isinstance(one, ast.NotIn | ast.Is) for one in tested) else node.orelse
    elif isinstance(node, ast.match_case) and isinstance(node.pattern, ast.MatchAs) and node.guard is None:
        refused = node.body
    return any(isinstance(one, ast.Raise) for one in refused)


def _compared(facts: FileFacts, body: tuple[ast.stmt, ...]) -> list[str]:
    nodes = [node for statement in body for node in ast.walk(statement)]
    found: list[str] = []
    for node in nodes:
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue | ast.Subscript):
            parts = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            parts = [node.func.value]
        found += [text for part in parts for text in _strings(facts, part)]
    return list(dict.fromkeys(found))


def _strings(facts: FileFacts, node: ast.expr) -> Iterator[str]:
    """The strings that a value, or the module-level table of that name, holds at its top."""
    if isinstance(node, ast.Name) and facts.tree is not None:
        for statement in facts.tree.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if any(dotted(target) == node.id for target in targets) and not isinstance(statement.value, ast.Name):
                    yield from _strings(facts, statement.value)
        return
    elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [node])
    yield from (one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _targets(model: OpsModel) -> Iterator[Finding]:
    specs = {spec.name: spec for spec in model.registrations.op_specs}
    if not specs or any(one.of_op for one in model.registrations.unresolved):
        return
    for patches in model.per_model_patches:
        named = {target.op_name for target in patches.targets}
        for target in patches.targets:
            yield from _target(model, patches, specs, target.op_name, target.place)
        for name, place in {one.op_name: one.place for one in reversed(patches.extra_backends)}.items():
            if patches.complete and name not in named:
                yield rule.finding(
                    place,
                    f"`{patches.model}` adds a backend to the op `{name}`, which is none of its targets: nothing ever "
                    "selects it; add the op to the targets, or remove the backend",
                )


def _target(
    model: OpsModel, patches: PerModelPatches, specs: dict[str, OpSpec], name: str, place: Place
) -> Iterator[Finding]:
    spec = specs.get(name)
    if spec is None:
        near = nearest(name, specs)
        yield rule.finding(
            place,
            f"no op is called `{name}`"
            + (f" (did you mean `{near}`?)" if near else "")
            + f": patching `{patches.model}` raises KeyError when the model is built; name a registered op",
            [Related(specs[near].place, f"`{near}` is registered here")] if near else [],
        )
    elif spec.scope == _GLOBAL and spec.global_slot is not None:
        yield rule.finding(
            place,
            f"the op `{name}` is GLOBAL and no target of {model.dialect.apply_per_model_patches}: patching "
            f"`{patches.model}` raises ValueError when the model is built; remove it, its pointer serves every model",
            [Related(spec.place, f"`{name}` is registered here")],
        )


def _text(model: OpsModel, module: str, node: ast.expr | None) -> str | None:
    """The string that a value is; of a name, if it stands for one literal of the project."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    name = dotted(node) if node is not None else ""
    targets = model.symbols.resolve(module, 0, name) if name else ()
    return model.symbols.literal(targets[0]) if len(targets) == 1 else None


def _argument(model: OpsModel, spec: OpSpec, name: str) -> Place:
    return argument_place(model, spec.spec_place, name, model.dialect.op_spec_fields)


def _of_entry(field: str, text: str) -> str:
    hint = ""
    module, _, attribute = text.strip().rpartition(".")
    if ":" not in text and module:
        hint = f" (did you mean `{module}:{attribute}`?)"
    return (
        f'`{field}` is "{text}" and not of the form "module:attribute"{hint}: resolving it fails when the op is '
        "selected; write the module, a colon and the name in it"
    )
