"""An op, OpSpec or OpsConfigSlot names a config field that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_places import argument_place
from veomni_opslint.model.binding import config_field_name
from veomni_opslint.model.ops_config import OpsConfig
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    config = model.ops_config
    if config is not None and config.fields:
        yield from _slots(model, config)
        yield from _config_slots(model, config)
        yield from _op_specs(model, config)


def _slots(model: OpsModel, config: OpsConfig) -> Iterator[Finding]:
    """An op that no kernel is registered for is OPS301's; that it has no field either is no news."""
    registered = {spec.op_name for spec in model.registrations.kernel_specs}
    for slot in model.slots:
        if slot.op_name is None or is_test(slot.path) or (registered and slot.op_name not in registered):
            continue
        field = config_field_name(model, slot.op_name)
        if config.field(field) is None:
            read_as_attribute = slot.op_name in model.dialect.config_field_of
            if not read_as_attribute and slot.op_name in model.special_fields:
                if model.special_fields[slot.op_name] is None:
                    continue
                read_as_attribute = True
            outcome = (
                "building the model raises AttributeError"
                if read_as_attribute
                else f"the slot silently stays {model.dialect.eager}, whatever the user configures"
            )
            message = (
                f"{slot.written} is bound by the config field `{field}`, which {_absence(model, config, field)}: "
                f"{outcome}; add the field"
            )
            yield rule.finding(slot.place, message, _related(config, field))


def _config_slots(model: OpsModel, config: OpsConfig) -> Iterator[Finding]:
    for slot in model.config_slots:
        field = slot.field_name
        if field is not None and config.field(field) is None and not is_test(slot.path):
            message = (
                f"{slot.written} reads a config field that {_absence(model, config, field)}: building the model raises "
                "AttributeError when the slot is bound; use the name of a field"
            )
            yield rule.finding(slot.place, message, _related(config, field))


def _op_specs(model: OpsModel, config: OpsConfig) -> Iterator[Finding]:
    for spec in model.registrations.op_specs:
        field = spec.config_field
        if isinstance(field, str) and config.field(field) is None:
            place = argument_place(model, spec.spec_place, "config_field", model.dialect.op_spec_fields)
            message = (
                f"op `{spec.name}` takes its backend from the config field `{field}`, which "
                f"{_absence(model, config, field)}: applying the ops raises AttributeError; use the name of a field"
            )
            yield rule.finding(place, message, _related(config, field))


def _absence(model: OpsModel, config: OpsConfig, field: str) -> str:
    near = nearest(field, (one.name for one in config.fields))
    return f"{model.dialect.ops_config} does not have" + (f" (did you mean `{near}`?)" if near else "")


def _related(config: OpsConfig, field: str) -> Iterator[Related]:
    near = config.field(nearest(field, (one.name for one in config.fields)))
    if near is not None:
        yield Related(near.place, f"the field `{near.name}`")
    else:
        yield Related(config.place, "the config class")
