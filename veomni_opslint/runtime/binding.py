"""Binding the slots of models on this machine, beside what ``opslint bind`` expects for its device."""

from __future__ import annotations

from veomni_opslint.bind.devices import parse_device
from veomni_opslint.bind.job_file import read_job_file
from veomni_opslint.bind.simulation import Binding, bind
from veomni_opslint.errors import RunError
from veomni_opslint.model import OpsModel
from veomni_opslint.model.binding import Device
from veomni_opslint.runtime.child.watch import Message
from veomni_opslint.runtime.decode import Decoder
from veomni_opslint.runtime.observation import BindingState, Environment
from veomni_opslint.runtime.request import RuntimeOptions


def expected_binding(model: OpsModel, options: RuntimeOptions, environment: Environment) -> tuple[Binding, Message]:
    """What ``opslint bind`` says for the device of this machine, and the request that binds the same.

    Raises:
        RunError: the job file cannot be read, the model does not exist, or the program has no function that binds.
    """
    name, written, _ = read_job_file(model, options.job_file) if options.job_file else (None, {}, "")
    device = _device(options, environment)
    expected = bind(model, device, written, name, options.model or None)
    function = model.dialect.bind_function
    homes = [module for module, facts in model.modules_in(model.package) if f"def {function}(" in facts.text]
    if not homes:
        raise RunError(f"{model.package} has no function {function}, so it is not known how it binds its slots")
    asked: Message = {
        "function": function,
        "function_module": homes[0],
        "slot_guard": model.dialect.slot_guard,
        "slot_kernel": model.dialect.slot_kernel,
        "written": {field: value.value for field, value in written.items() if value.value is not None},
        "modules": [one.file.module for one in expected.models],
    }
    return expected, asked


def bindings(expected: Binding, seen: Message, decoder: Decoder) -> tuple[BindingState, ...]:
    """Each slot with what it was expected to get and what it got."""
    modules = {str(one["module"]): one for one in seen.get("all", ())}
    failure = decoder.failure(seen.get("error"))
    states = []
    for model in expected.models:
        answer = modules.get(model.file.module, {"status": "error", "slots": None})
        slots = {str(slot["var"]): slot for slot in answer["slots"] or ()}
        for one in model.slots:
            got = slots.get(one.slot.var, answer if answer["slots"] is None else {"status": "error"})
            error = decoder.failure(got.get("error")) or failure
            kernel = got.get("kernel") or {}
            states.append(
                BindingState(
                    model=model.file.name,
                    var=one.slot.var,
                    place=one.slot.place,
                    expected=one.status,
                    expected_reason=one.reason,
                    status=got["status"],
                    kernel=f"{kernel['module']}:{kernel['qualname']}" if kernel else "",
                    reason=str(error) if error is not None else "",
                    missing=str(got.get("missing") or ""),
                )
            )
    return tuple(states)


def _device(options: RuntimeOptions, environment: Environment) -> Device:
    if options.simulate:
        return parse_device(options.simulate)
    kind = environment.device
    return Device("gpu", environment.compute_capability) if kind == "gpu" else Device("npu" if kind == "npu" else "cpu")
