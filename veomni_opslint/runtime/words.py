"""How amounts, versions and machines are written in reports."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.runtime.observation import BindingState, CallState, Environment, RuntimeRun

STATUSES = ("ok", "gated", "missing", "broken", "not-callable", "crashed", "timeout")


def counts(run: RuntimeRun) -> str:
    """How many kernels have each status."""
    states = [kernel.status for kernel in run.kernels]
    said = [f"{states.count(status)} {status}" for status in STATUSES if status in states]
    number = len(states)
    text = f"{number} kernel{'s' * (number != 1)}: {', '.join(said) or 'none'}"
    if not run.called:
        return text
    calls = [kernel.call for kernel in run.kernels if kernel.call is not None]
    if not calls:
        return f"{text}; none called: {run.model.package} declares no examples for those that resolve"
    failed = sum(not call.passed for call in calls)
    return f"{text}; {len(calls)} called, {failed or 'none'} failed"


def call_words(call: CallState) -> str:
    """What calling a kernel gave."""
    if call.forward is None or call.failure is not None:
        return f"FAIL: {call.reason}"
    backward = f", backward {call.backward:.1e}" if call.backward is not None else ""
    allowed = f" (allowed {call.allowed:.1e})" if call.allowed is not None else ""
    return f"called in {call.dtype}: {'pass' if call.passed else 'FAIL'}, forward {call.forward:.1e}{backward}{allowed}"


def binding_words(binding: BindingState) -> str:
    """What a slot was bound to, or why it was not."""
    if binding.status == "missing":
        return f"missing: {binding.missing} is not installed"
    said = binding.kernel or binding.reason
    return (
        f"{binding.status}{f': {said}' if said else ''}{'' if binding.agrees else f', but {binding.expected} expected'}"
    )


def binding_counts(run: RuntimeRun) -> str:
    """How many slots were bound, are eager, and could not be bound."""
    states = [binding.status for binding in run.bindings]
    bound, eager = states.count("bound"), states.count("eager")
    number = f"{bound} slot{'s' * (bound != 1)}"
    return f"{number} bound, {eager} eager, {len(states) - bound - eager} cannot be bound"


def environment_rows(run: RuntimeRun) -> Iterator[tuple[str, str]]:
    """The machine in name and value, without what is not there."""
    machine = run.environment
    if run.simulated:
        yield "simulated", f"{run.simulated}: pretended hardware, nothing below says what a real one does"
        yield "stand-ins", ", ".join(run.stand_ins) or "none"
    yield "device", _device(machine)
    for name, value in (("driver", machine.driver), ("CUDA", machine.cuda), ("CANN", machine.cann)):
        if value is not None:
            yield name, value
    if machine.python:
        yield "python", f"{machine.python} ({machine.executable})"
        yield "platform", machine.platform
    yield "packages", ", ".join(f"{name} {version}" for name, version in machine.packages.items() if version) or "none"
    absent = [name for name, version in machine.packages.items() if version is None]
    if absent:
        yield "not installed", ", ".join(absent)
    if machine.problem:
        yield "problem", machine.problem


def import_rows(run: RuntimeRun) -> Iterator[tuple[str, str]]:
    """What importing the ops package took and loaded."""
    imported = run.imported
    if imported.status != "ok":
        yield "import", f"{imported.status}: {imported.reason}"
        return
    dearest = [one for one in imported.packages if one.seconds >= 0.05][:6]
    shown = "".join(f", {one.package} {one.seconds:.2f} s {mebibytes(one.memory)}" for one in dearest)
    yield "import", f"{imported.seconds:.2f} s, {mebibytes(imported.memory)}{': ' * bool(shown)}{shown[2:]}"
    states = [module.status for module in run.modules]
    if states:
        reasons = dict.fromkeys(module.reason for module in run.modules if module.status != "ok")
        listed = "".join(f"; {reason}" for reason in list(reasons)[:3])
        yield "modules with slots", f"{states.count('ok')} of {len(states)} can be imported{listed}"
    loaded = [one.package for one in imported.optional]
    yield "optional packages loaded", ", ".join(loaded) or "none"


def mebibytes(number: int) -> str:
    """An amount of memory."""
    return f"{number / (1 << 20):.0f} MiB"


def _device(machine: Environment) -> str:
    if not machine.devices:
        return machine.device
    names = ", ".join(dict.fromkeys(machine.devices))
    capability = f", compute capability {machine.compute_capability}" if machine.compute_capability else ""
    return f"{machine.device}: {len(machine.devices)} x {names}{capability}"
