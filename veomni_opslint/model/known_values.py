"""The values of a config field that something implements."""

from __future__ import annotations

from veomni_opslint.model.binding import config_field_name, config_value
from veomni_opslint.model.ops_config import OpsConfig
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.registrations import Unknown


def known_values(model: OpsModel, config: OpsConfig, field: str) -> tuple[str, ...] | None:
    """Every value of a field that something implements; None where that cannot be known, or nothing says."""
    declared = config.field(field)
    if declared is not None and declared.choices is not None:
        return declared.choices
    registrations = model.registrations
    ops = {spec.op_name for spec in registrations.kernel_specs if config_field_name(model, spec.op_name) == field}
    specs = [spec for spec in registrations.op_specs if spec.config_field == field]
    if not ops and not specs:
        return None
    if any(item.op_name is None or item.op_name in ops or item.of_op for item in registrations.unresolved):
        return None
    values = [model.dialect.eager]
    for kernel in registrations.kernel_specs:
        if kernel.op_name in ops:
            values += [config_value(model, kernel.op_name, kernel.name), kernel.name]
    for spec in specs:
        if isinstance(spec.backends, Unknown):
            return None
        values += [name for name, _ in spec.backends]
    names = {spec.name for spec in specs}
    for patches in model.per_model_patches:
        if not patches.complete:
            return None
        values += [extra.name for extra in patches.extra_backends if extra.op_name in names and not extra.barred]
    values += [legacy.value for legacy in model.legacy_values if legacy.field == field]
    return tuple(dict.fromkeys(values))


def registered_values(model: OpsModel, field: str) -> tuple[str, ...]:
    """The values of a field that its choices list or that are registered for every model, without eager."""
    config = model.ops_config
    declared = config.field(field) if config is not None else None
    if declared is not None and declared.choices is not None:
        return tuple(value for value in declared.choices if value != model.dialect.eager)
    found = [
        config_value(model, spec.op_name, spec.name)
        for spec in model.registrations.kernel_specs
        if config_field_name(model, spec.op_name) == field
    ]
    for spec in model.registrations.op_specs:
        if spec.config_field == field and not isinstance(spec.backends, Unknown):
            found += [name for name, _ in spec.backends]
    return tuple(value for value in dict.fromkeys(found) if value != model.dialect.eager)
