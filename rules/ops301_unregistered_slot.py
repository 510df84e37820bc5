"""A slot asks for an (op, variant) that no kernel is registered for."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.registered_pairs import may_be_registered, nearest, specs_of
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    registered = model.kernel_variants()
    if not registered:
        return
    for slot in model.slots:
        op_name, variant = slot.op_name, slot.variant
        if op_name is None or variant is None or (op_name, variant) in registered or is_test(slot.path):
            continue
        if not may_be_registered(model, op_name, variant):
            meant = _op_meant(model, op_name, variant)
            message = f"no kernel is registered for {slot.written}, so {_consequence(model, op_name)}"
            yield rule.finding(slot.place, message + _way_out(model, slot, meant), _registrations(model, meant))


def _op_meant(model: OpsModel, op_name: str, variant: str) -> str:
    """The registered op that the slot is about: its own, or the nearest; empty when there is none."""
    ops = {spec.op_name for spec in model.registrations.kernel_specs}
    if op_name in ops:
        return op_name
    return variant if variant in ops else nearest(op_name, ops)


def _consequence(model: OpsModel, op_name: str) -> str:
    field = model.dialect.config_field_of.get(op_name, op_name + model.dialect.implementation_suffix)
    eager = model.dialect.eager
    if model.ops_config is not None and model.ops_config.field(field) is None:
        return f"the model silently runs {eager} code whatever the configuration selects"
    return f"building the model with any `{field}` but {eager} raises KeyError"


def _way_out(model: OpsModel, slot: OpSlotInfo, meant: str) -> str:
    variants = [spec.variant for spec in specs_of(model, meant)]
    written = str(slot.variant)
    if not meant:
        return "; register one, or name an op that has kernels"
    if slot.op_name != meant:
        swapped = meant == slot.variant and slot.op_name in variants
        return "; op and variant are exchanged" if swapped else f"; did you mean op `{meant}`?"
    near = nearest(written, variants)
    if near:
        return f"; did you mean variant `{near}`?"
    listed = ", ".join(f"`{variant}`" for variant in variants)
    names = {spec.name for spec in model.registrations.kernel_specs if spec.op_name == meant}
    mistaken = f"`{written}` is the name of an implementation, no variant; " if written in names else ""
    return f"; {mistaken}`{meant}` has kernels for {listed}"


def _registrations(model: OpsModel, op_name: str) -> Iterator[Related]:
    for spec in specs_of(model, op_name):
        yield Related(spec.place, f"`{spec.name}` is registered for `{op_name}`, variant `{spec.variant}`")
