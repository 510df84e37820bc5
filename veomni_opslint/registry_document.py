"""``opslint registry --output-format json``: registrations, slots and configuration as one JSON object."""

from __future__ import annotations

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.wrapper_builders import Builder
from veomni_opslint.model.wrappers import Entry, Table, Wrappers
from veomni_opslint.registrations import Backend, Factory, Hardware, KernelSpec, OpSpec, Unknown

Document = dict[str, object]


def registry_document(model: OpsModel) -> Document:
    """Everything, as the JSON object that docs/output.md describes; what is not known is null."""
    config_fields = model.ops_config.fields if model.ops_config is not None else ()
    return {
        "kernel_specs": [kernel_document(spec) for spec in model.registrations.kernel_specs],
        "op_specs": [op_document(spec) for spec in model.registrations.op_specs],
        "op_slots": [
            {
                **at(slot.place),
                "var": slot.var,
                "op_name": slot.op_name,
                "variant": slot.variant,
                "source": slot.source,
                "embedded": slot.embedded,
            }
            for slot in sorted(model.slots, key=lambda slot: slot.place)
            if slot.live
        ],
        "config_slots": [
            {
                **at(slot.place),
                "var": slot.var,
                "field": slot.field_name,
                "source": slot.source,
                "embedded": slot.embedded,
            }
            for slot in sorted(model.config_slots, key=lambda slot: slot.place)
            if slot.live
        ],
        "config_fields": [
            {
                "name": field.name,
                "default": field.default,
                "choices": None if field.choices is None else list(field.choices),
                **at(field.place),
            }
            for field in config_fields
        ],
        "pointers": [_pointer(pointer) for pointer in model.pointers],
        "wrappers": {} if model.wrappers is None else _wrappers(model.wrappers),
        "unresolved": [{**at(item.place), "reason": item.reason} for item in model.registrations.unresolved],
    }


def kernel_document(spec: KernelSpec) -> Document:
    """A registered kernel."""
    factory = spec.factory if isinstance(spec.factory, Factory) else None
    hardware = spec.hardware if isinstance(spec.hardware, Hardware) else None
    device = known(hardware.device_type) if hardware is not None else None
    return {
        "op_name": spec.op_name,
        "variant": spec.variant,
        "name": spec.name,
        "device_type": list(device) if isinstance(device, tuple) else device,
        "min_compute_capability": known(hardware.min_compute_capability) if hardware is not None else None,
        "max_compute_capability": known(hardware.max_compute_capability) if hardware is not None else None,
        "factory": factory_name(factory) if factory is not None else None,
        **at(spec.place),
        "factory_file": factory.place.path if factory is not None and factory.place is not None else None,
        "factory_line": factory.place.line if factory is not None and factory.place is not None else None,
        "description": known(spec.description),
        "conditions": list(spec.conditions),
    }


def op_document(spec: OpSpec) -> Document:
    """An op of the legacy registry."""
    backends = None if isinstance(spec.backends, Unknown) else {name: _backend(item) for name, item in spec.backends}
    return {
        "name": spec.name,
        "config_field": known(spec.config_field),
        "scope": known(spec.scope),
        "default": known(spec.default),
        "global_slot": known(spec.global_slot),
        "backends": backends,
        **at(spec.place),
    }


def _pointer(pointer: Pointer) -> Document:
    return {
        "module": pointer.module,
        "name": pointer.name,
        "op": pointer.op or None,
        "apply": [function.name for function in pointer.apply],
        "public": [function.name for function in pointer.public],
        **at(pointer.place),
    }


def _wrappers(wrappers: Wrappers) -> Document:
    """The tables of the async Ulysses wrappers by op, or ``op/variant``; a table that is not there is null."""
    return {
        "module": wrappers.module,
        "file": wrappers.path,
        "implementations": _names_by_op(wrappers.implementations),
        "variants": _names_by_op(wrappers.variants),
        "default_variants": _name_by_op(wrappers.default_variants),
        "config_fields": _name_by_op(wrappers.config_fields),
        "builders": None if wrappers.builders is None else {_label(one): _builder(one) for one in wrappers.builders},
    }


def _names_by_op(table: Table | None) -> Document | None:
    if table is None:
        return None
    return {
        _label(entry): None if entry.elements is None else [element.value for element in entry.elements]
        for entry in table.entries
    }


def _name_by_op(table: Table | None) -> Document | None:
    if table is None:
        return None
    return {_label(entry): entry.elements[0].value if entry.elements else None for entry in table.entries}


def _builder(builder: Builder) -> Document:
    return {"function": builder.function or None, **at(builder.definition or builder.place)}


def _label(entry: Entry | Builder) -> str:
    implementation = entry.implementation if isinstance(entry, Builder) else None
    return "/".join(part for part in (entry.op, entry.variant, implementation) if part is not None)


def _backend(backend: Backend) -> Document:
    requires = backend.requires
    return {
        "entry": known(backend.entry),
        "requires": None if isinstance(requires, Unknown) else list(requires),
        "replace_forward": known(backend.replace_forward),
        "entry_is_factory": known(backend.entry_is_factory),
        "side_effect": known(backend.side_effect),
        "target_override": known(backend.target_override),
    }


def known(value: object) -> object:
    """*value*, or None where it is Unknown."""
    return None if isinstance(value, Unknown) else value


def at(place: Place) -> Document:
    """A place, as keys of an object."""
    return {"file": place.path, "line": place.line}


def factory_name(factory: Factory) -> str:
    """``module:function`` for a factory of the project, else what is known of it."""
    return f"{factory.module}:{factory.qualname}" if factory.qualname else factory.dotted or factory.text
