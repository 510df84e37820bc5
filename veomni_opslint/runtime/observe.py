"""Running the program in processes of its own, and putting together what was seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veomni_opslint.errors import RunError
from veomni_opslint.model import OpsModel
from veomni_opslint.runtime.binding import bindings, expected_binding
from veomni_opslint.runtime.child.main import BIND, CONFIG, ENVIRONMENT, SLOTS
from veomni_opslint.runtime.child.watch import Ending, Limits, Message, Process, watch
from veomni_opslint.runtime.decode import Decoder
from veomni_opslint.runtime.launch import interpreter, start
from veomni_opslint.runtime.observation import BindingState, Environment, ImportState, KernelState, RuntimeRun
from veomni_opslint.runtime.request import RuntimeOptions, child_environment, runtime_request

_NO_LIMIT = 1 << 62
_PATIENCE = 30.0

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class _Seen:
    """What processes said, by the key of the task."""

    imported: Message | None = None
    registry: Message | None = None
    stand_ins: tuple[str, ...] = ()
    answers: dict[str, Message] = field(default_factory=dict)
    alone: tuple[str, ...] = ()
    ending: Ending | None = None
    output: str = ""


def observe(model: OpsModel, options: RuntimeOptions, progress: Progress | None = None) -> RuntimeRun:
    """Import the ops package of *model* with the interpreter of *options*, and resolve every kernel.

    Raises:
        RunError: the interpreter cannot be started, or has not what the package cannot do without.
    """
    python = interpreter(options.python)
    request = runtime_request(model, options)
    say = progress or (lambda *_: None)
    say(f"importing {model.ops_package}", 0, 0)
    seen = _serve(python, request, options, say)
    decoder = Decoder(model, options)
    imported = decoder.import_state(seen.imported, seen.ending or Ending("done"), seen.output)
    if imported.status == "missing" and imported.missing not in model.dialect.optional_packages:
        raise RunError(
            f"{model.ops_package} cannot be imported by {python}: {imported.reason}; "
            "`--python` names the interpreter of the environment that jobs run in"
        )
    if seen.registry is None:
        machine = Environment(executable=python)
        return RuntimeRun(model, machine, imported, simulated=options.simulate, stand_ins=seen.stand_ins)
    specs = {_task(spec): spec for spec in seen.registry["kernel_specs"]}
    others = (ENVIRONMENT, SLOTS * bool(request["slot_modules"]), CONFIG * bool(request["config_module"]))
    doubtful = _to_confirm(seen, [key for key in (*specs, *others) if key], specs)
    seen.answers.update(_alone(python, request, doubtful, options, say, "again, alone: "))
    machine = decoder.environment(seen.answers.get(ENVIRONMENT, {}).get("answer"), python)
    bound: tuple[BindingState, ...] = ()
    if options.job_file or options.model:
        expected, asked = expected_binding(model, options, machine)
        say("binding the slots", 0, 0)
        answers = _alone(python, {**request, "bind": asked}, [BIND], options, say, "")
        bound = bindings(expected, answers[BIND], decoder)
    fields = seen.answers.get(CONFIG, {}).get("answer")
    return RuntimeRun(
        model=model,
        environment=machine,
        imported=imported,
        kernels=tuple(decoder.kernel(spec, seen.answers.get(key, {})) for key, spec in specs.items()),
        op_specs=tuple(seen.registry["op_specs"]),
        modules=tuple(decoder.module(one) for one in seen.answers.get(SLOTS, {}).get("all", ())),
        config_fields=tuple(fields["fields"]) if fields is not None else None,
        bindings=bound,
        called=options.call,
        simulated=options.simulate,
        stand_ins=seen.stand_ins,
    )


def _task(spec: Message) -> str:
    return f"{spec['op_name']}/{spec['variant']}/{spec['name']}"


def _serve(python: str, request: Mapping[str, object], options: RuntimeOptions, say: Progress) -> _Seen:
    """One process imports the package and forks another for each kernel."""
    seen = _Seen()
    limits = Limits(options.import_timeout, 2 * options.timeout + _PATIENCE, _NO_LIMIT)
    total = done = 0
    for process, event in watch([lambda: start("server", python, "main", request, child_environment())], 1, limits):
        if isinstance(event, Ending):
            seen.ending, seen.output = event, process.output
            continue
        kind, key = event.get("event"), str(event.get("key"))
        if kind == "import":
            seen.imported = event
        elif kind == "registry":
            seen.registry, total = event, len(event["kernel_specs"])
        elif kind == "simulated":
            seen.stand_ins = tuple(event["packages"])
        elif kind == "alone":
            seen.alone = tuple(event["keys"])
        elif kind == "ended":
            seen.answers.setdefault(key, {}).update(ending=event)
            done += key not in {ENVIRONMENT, SLOTS, CONFIG}
            say(key, done, total)
        elif kind in {"answer", "error"}:
            _keep(seen.answers.setdefault(key, {}), event)
    return seen


def _keep(answer: Message, event: Message) -> None:
    """The last answer of a task, and of one that gives several, all."""
    answer.update(event)
    if "answer" in event:
        answer.setdefault("all", []).append(event["answer"])


def _to_confirm(seen: _Seen, keys: Iterable[str], specs: Collection[str]) -> list[str]:
    """The tasks to do again in a process that is not forked.

    A fork may be what made them fail, or the process that they were forked from was gone before they ended.
    """
    if seen.alone:
        return [key for key in keys if key in seen.alone]
    return [key for key in keys if _is_doubtful(seen.answers.get(key, {}), key in specs)]


def _is_doubtful(answer: Message, is_kernel: bool) -> bool:
    if "ending" not in answer:
        return True
    about_forks = "forked subprocess" in str(answer.get("answer"))
    unexplained = "answer" not in answer and "error" not in answer
    return is_kernel and (about_forks or unexplained or answer["ending"]["kind"] in {"signal", "exit", "timeout"})


def _alone(
    python: str, request: Mapping[str, object], keys: Sequence[str], options: RuntimeOptions, say: Progress, label: str
) -> dict[str, Message]:
    """The answers of processes that each import the package themselves."""
    answers: dict[str, Message] = {key: {} for key in keys}
    limits = Limits(options.import_timeout, options.timeout, options.memory)

    def starting(key: str) -> Callable[[], Process]:
        return lambda: start(key, python, "main", {**request, "only": key}, child_environment())

    done = 0
    for process, event in watch([starting(key) for key in keys], options.jobs, limits):
        if isinstance(event, Ending):
            answers[process.key]["ending"] = {"kind": event.kind, "detail": event.detail, "output": process.output}
            done += 1
            say(label + process.key, done, len(keys))
        elif event.get("event") in {"answer", "error"}:
            _keep(answers[process.key], event)
    return answers


__all__ = ["ImportState", "KernelState", "Progress", "observe"]
