"""``opslint bind --output-format json``: the result as one JSON object."""

from __future__ import annotations

import json

from veomni_opslint.bind.patches import PatchBinding
from veomni_opslint.bind.simulation import Binding, SlotBinding
from veomni_opslint.findings import Place
from veomni_opslint.model.binding import FieldValue
from veomni_opslint.registrations import Factory, KernelSpec
from veomni_opslint.registry_document import Document, factory_name


def render_json(result: Binding) -> str:
    """The document as text."""
    return json.dumps(binding_document(result), indent=2) + "\n"


def binding_document(result: Binding) -> Document:
    """Everything, as the JSON object that docs/bind.md describes."""
    return {
        "device": str(result.device),
        "config": result.config,
        "models": [
            {
                "name": model.file.name,
                "module": model.file.module,
                "file": model.file.path,
                "slots": [_slot(slot) for slot in model.slots],
            }
            for model in result.models
        ],
        "patches": [_patch(patch) for patch in result.patches],
        "rejected": [_rejected(value) for value in result.rejected],
    }


def _slot(binding: SlotBinding) -> Document:
    return {
        "var": binding.slot.var,
        "op_name": binding.slot.op_name,
        "variant": binding.slot.variant,
        "line": binding.slot.line,
        "field": binding.field or None,
        "requested": binding.requested,
        "origin": binding.origin,
        "origin_file": binding.given.place.path if binding.given is not None else None,
        "origin_line": binding.given.place.line if binding.given is not None else None,
        "status": binding.status,
        "kernel": _kernel(binding.spec) if binding.spec is not None and binding.status == "bound" else None,
        "stage": binding.stage,
        "reason": binding.reason or None,
    }


def _kernel(spec: KernelSpec) -> Document:
    factory = spec.factory if isinstance(spec.factory, Factory) else None
    place = factory.place if factory is not None else None
    return {
        "name": spec.name,
        "factory": factory_name(factory) if factory is not None else None,
        "file": place.path if place is not None else spec.place.path,
        "line": place.line if place is not None else spec.place.line,
        "registered_file": spec.place.path,
        "registered_line": spec.place.line,
    }


def _patch(binding: PatchBinding) -> Document:
    given = binding.given
    return {
        "model": binding.patches.model,
        "module": binding.patches.module,
        "op_name": binding.target.op_name,
        "attribute": binding.target.attribute,
        **_at(binding.target.place),
        "field": given.field if given is not None else None,
        "requested": given.value if given is not None else None,
        "origin": given.origin if given is not None else None,
        "status": binding.status,
        "reason": binding.reason or None,
    }


def _rejected(value: FieldValue) -> Document:
    return {
        "field": value.field,
        "value": value.value,
        "origin": value.origin,
        **_at(value.place),
        "reason": value.error,
    }


def _at(place: Place) -> Document:
    return {"file": place.path, "line": place.line}
