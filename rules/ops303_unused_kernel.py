"""A kernel is registered for an (op, variant) that no slot and no other consumer uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_places import argument_place
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.registrations import KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_LOOKUPS = ("resolve", "list_available", "_specs")


def check(model: OpsModel) -> Iterator[Finding]:
    slots = [slot for slot in model.slots if not _is_test(slot.path)]
    if not slots or any(slot.op_name is None for slot in slots):
        return
    used = {(slot.op_name, slot.variant) for slot in slots}
    unused: dict[tuple[str, str], list[KernelSpec]] = {}
    for spec in model.registrations.kernel_specs:
        pair = (spec.op_name, spec.variant)
        if pair not in used and (spec.op_name, None) not in used:
            unused.setdefault(pair, []).append(spec)
    if unused:
        consumers = [facts for facts in model.files.values() if _may_consume(model, facts)]
        for pair, specs in unused.items():
            if not any(_consumes(model, facts, pair) for facts in consumers):
                yield _finding(model, specs, {variant for op, variant in used if op == pair[0] and variant})


def _is_test(path: str) -> bool:
    *folders, name = path.split("/")
    return "tests" in folders or name.startswith("test_") or name == "conftest.py"


def _may_consume(model: OpsModel, facts: FileFacts) -> bool:
    """Whether a file looks kernels up itself; the registry and the slot class, which do so for slots, do not count."""
    if _is_test(facts.path):
        return False
    if facts.problem is not None:
        return model.dialect.op_slot in facts.text or model.dialect.registry in facts.text
    names = (model.dialect.registry, model.dialect.get_wrapper, model.dialect.supported_variants)
    if not any(name in facts.text for name in names):
        return False
    classes = (model.dialect.registry_class, model.dialect.op_slot)
    return not any(f"class {name}" in facts.text for name in classes)


def _consumes(model: OpsModel, facts: FileFacts, pair: tuple[str, str]) -> bool:
    if facts.problem is not None:
        # What cannot be parsed may declare a slot for all that it names.
        return all(_quotes(facts.text, word) for word in pair)
    tables = (model.dialect.get_wrapper, model.dialect.supported_variants, model.dialect.default_variants)
    if any(name in facts.text for name in tables) and all(_quotes(facts.text, word) for word in pair):
        return True
    if not any(name in facts.text for name in _LOOKUPS):
        return False
    return any(_may_look_up(facts, lookup, pair) for lookup in _lookups(model, facts))


def _lookups(model: OpsModel, facts: FileFacts) -> Iterator[list[ast.expr]]:
    """The first two arguments of each look-up in the registry."""
    for node in ast.walk(ast.parse(facts.text)):
        owner: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKUPS:
            owner, given = node.func.value, [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr in _LOOKUPS:
            owner, given = node.value.value, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if owner is not None and dotted(owner).rpartition(".")[2] in _registry_names(model, facts):
            yield given[:2]


def _registry_names(model: OpsModel, facts: FileFacts) -> set[str]:
    name = model.dialect.registry
    renamed = {one.bound for imported in facts.imports for one in imported.names if one.name == name}
    return {name, *renamed, *(binding.name for binding in facts.bindings if binding.value_name.endswith(name))}


def _may_look_up(facts: FileFacts, given: list[ast.expr], pair: tuple[str, str]) -> bool:
    """A name that is no literal may be anything that the file writes somewhere as a string."""
    for index, word in enumerate(pair):
        argument = given[index] if index < len(given) else None
        literal = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(literal, str) and literal != word:
            return False
        if literal is None and index == 0 and not _quotes(facts.text, word):
            return False
    return True


def _quotes(text: str, word: str) -> bool:
    return f'"{word}"' in text or f"'{word}'" in text


def _finding(model: OpsModel, specs: list[KernelSpec], variants: set[str]) -> Finding:
    first = specs[0]
    meant = nearest(first.variant, variants)
    hint = f"; did you mean variant `{meant}`?" if meant else "; declare a slot for it, or correct its op or variant"
    message = (
        f"no {model.dialect.op_slot} has op `{first.op_name}`, variant `{first.variant}`, so the kernel `{first.name}` "
        f"can never be selected by any model{hint}"
    )
    others = [Related(spec.place, f"`{spec.name}` is registered for the same variant") for spec in specs[1:]]
    slots = [slot for slot in model.slots if slot.op_name == first.op_name and slot.variant == meant][:1]
    near = [Related(slot.place, f"a slot for variant `{slot.variant}`") for slot in slots]
    return rule.finding(_place(model, first, "variant" if variants else "op_name"), message, [*near, *others])


def _place(model: OpsModel, spec: KernelSpec, argument: str) -> Place:
    if spec.caller != spec.place:
        return spec.caller
    return argument_place(model, spec.spec_place, argument, model.dialect.kernel_spec_fields)
