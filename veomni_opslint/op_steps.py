"""The steps of adding an op, and which of them a given op has behind it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.op_overview import OpOverview
from veomni_opslint.registrations import Factory, Hardware, Unknown

Status: TypeAlias = Literal["done", "wrong", "missing", "not needed", "not known"]

_DOCUMENTATION_RULES = ("OPS801", "OPS802")
_TEST_RULES = ("OPS803",)
_BY_MODELS = "code reads the field and chooses"


class Step(NamedTuple):
    """One step; ``note`` says what is there, or what to do."""

    name: str
    status: Status
    note: str
    place: Place | None = None


def steps(model: OpsModel, op: OpOverview) -> tuple[Step, ...]:
    """The steps in the order in which one takes them."""
    return (
        _folder(op),
        _eager(model, op),
        _factory(op),
        _registration(model, op),
        _slot(op),
        _field(model, op),
        _wrapper(op),
        _npu(model, op),
        _test(model, op),
        _documentation(model, op),
    )


def _reported(op: OpOverview, rules: tuple[str, ...], step: Step) -> Step:
    """The step, wrong if one of the *rules* has a finding about it."""
    found = [finding for finding in op.findings if finding.code in rules]
    if not found:
        return step
    codes = ", ".join(dict.fromkeys(finding.code for finding in found))
    return step._replace(status="wrong", note=f"{counted(len(found), 'finding')} ({codes})", place=found[0].place)


def _chosen_by_models(op: OpOverview) -> bool:
    """Whether the value of the field is read by code that then chooses what it calls itself."""
    return (bool(op.config_slots) and not op.kernels and not op.op_specs) or op.read_directly


def _folder(op: OpOverview) -> Step:
    if op.folder:
        return Step("folder", "done", op.folder)
    if _chosen_by_models(op):
        return Step("folder", "not needed", _BY_MODELS)
    return Step("folder", "missing", f"no folder of the kernels registers it; one would be kernels/{op.name}")


def _eager(model: OpsModel, op: OpOverview) -> Step:
    inside = f"{op.folder}/"
    for path, facts in sorted(model.files.items()) if op.folder else ():
        if path.startswith(inside) and model.dialect.eager in path.rpartition("/")[2]:
            return Step("eager", "done", f"the reference is {path}", Place(path, 1))
        for scope in facts.scopes if path.startswith(inside) and f"def {model.dialect.eager}" in facts.text else ():
            if scope.name.startswith(model.dialect.eager):
                return Step("eager", "done", f"the reference is {scope.name}", Place(path, scope.span[0]))
    if op.slots or op.config_slots:
        return Step("eager", "done", "the code of the model beside the slot")
    if op.read_directly:
        return Step("eager", "not needed", _BY_MODELS)
    return Step("eager", "missing", "nothing computes it without a kernel")


def _factory(op: OpOverview) -> Step:
    if _chosen_by_models(op):
        return Step("factory", "not needed", _BY_MODELS)
    if not op.kernels:
        return Step("factory", "missing", "no kernel is registered, so there is no factory")
    known = [spec for spec in op.kernels if isinstance(spec.factory, Factory)]
    first = op.kernels[0].factory
    place = first.place if isinstance(first, Factory) else None
    if len(known) < len(op.kernels):
        return Step("factory", "not known", f"{len(known)} of {len(op.kernels)} can be read", place)
    have = "has" if len(known) == 1 else "have"
    return Step("factory", "done", f"{counted(len(known), 'kernel')} {have} one", place)


def _registration(model: OpsModel, op: OpOverview) -> Step:
    if op.kernels:
        names = dict.fromkeys(spec.name for spec in op.kernels)
        return Step("registration", "done", ", ".join(names), op.kernels[0].place)
    if any(item.op_name in (None, op.name) for item in model.registrations.unresolved):
        return Step("registration", "not known", "a registration that cannot be read may be of this op")
    if _chosen_by_models(op):
        return Step("registration", "not needed", _BY_MODELS)
    if op.op_specs:
        return Step("registration", "missing", "only an OpSpec of the legacy registry", op.op_specs[0].place)
    return Step("registration", "missing", f"no {model.dialect.kernel_spec} has this op_name")


def _slot(op: OpOverview) -> Step:
    if op.slots:
        models = {used.model for used in op.slots if used.model}
        where = f"in {counted(len(models), 'model')}" if models else "beside the models"
        return Step("slot", "done", f"{counted(len(op.slots), 'slot')} {where}", op.slots[0].slot.place)
    if op.config_slots:
        return Step("slot", "done", counted(len(op.config_slots), "config slot"), op.config_slots[0].place)
    scopes = [spec.scope for spec in op.op_specs if not isinstance(spec.scope, Unknown)]
    if scopes:
        return Step("slot", "not needed", f"the legacy registry applies it ({scopes[0]})", op.op_specs[0].place)
    if op.read_directly:
        return Step("slot", "not needed", _BY_MODELS)
    return Step("slot", "missing", "no model has one, so that no kernel of the op is ever called")


def _field(model: OpsModel, op: OpOverview) -> Step:
    if op.field is not None:
        return Step("field", "done", op.field_name, op.field.place)
    config = model.dialect.ops_config
    return Step("field", "missing", f"{config} has no {op.field_name}, so that every slot stays eager")


def _wrapper(op: OpOverview) -> Step:
    if op.wrapper is None:
        return Step("wrapper", "not needed", "async Ulysses does not wrap this op")
    return Step("wrapper", "done", ", ".join(op.wrapper.implementations) or "declared", op.wrapper.place)


def _npu(model: OpsModel, op: OpOverview) -> Step:
    for spec in op.kernels:
        device = spec.hardware.device_type if isinstance(spec.hardware, Hardware) else None
        kinds = (device,) if isinstance(device, str) else device if isinstance(device, tuple) else ()
        if set(kinds) & set(model.dialect.npu_device_types):
            place = spec.factory.place if isinstance(spec.factory, Factory) else None
            return Step("NPU file", "done", spec.name, place or spec.place)
    if _chosen_by_models(op):
        return Step("NPU file", "not needed", _BY_MODELS)
    return Step("NPU file", "missing", "no kernel is for an NPU, so that the op is eager there")


def _test(model: OpsModel, op: OpOverview) -> Step:
    if op.tests:
        return _reported(op, _TEST_RULES, Step("test", "done", counted(len(op.tests), "file"), op.tests[0]))
    if not op.reads_everything:
        return Step("test", "not known", "no tests were read; give the repository as PATH")
    return Step("test", "missing", f"no test under tests/{model.dialect.ops_package} names it")


def _documentation(model: OpsModel, op: OpOverview) -> Step:
    if op.documents:
        listed = Step("docs", "done", counted(len(op.documents), "table"), op.documents[0].place)
        return _reported(op, _DOCUMENTATION_RULES, listed)
    if not model.documents:
        return Step("docs", "not known", "no documents were read; give the repository as PATH")
    return Step("docs", "missing", f"no table of the documentation has {op.field_name}")


def counted(number: int, noun: str) -> str:
    """``1 slot``, ``2 slots``."""
    return f"{number} {noun}" + ("s" if number != 1 else "")
