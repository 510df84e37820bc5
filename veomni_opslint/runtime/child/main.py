"""Importing the ops package once, and answering what is asked about it: in forked processes, or alone in this one."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .bind import tell_bindings
from .call import call_kernel
from .environment import describe_environment, has_accelerator_files, use_device
from .errors import describe_error, is_found, missing_package
from .imports import costs, loaded_optional, recorded
from .isolate import Say, run, sender, show_stacks_before, start
from .program import tell_config_fields, tell_slots
from .registry import describe_kernel_spec, describe_op_spec, kernel_specs, op_specs
from .resolve import resolve_kernel
from .stand_ins import pretend
from .watch import Ending, Limits, Message, resident_memory, watch

ENVIRONMENT, SLOTS, CONFIG, BIND = "environment", "slots", "config", "bind"

Task = tuple[str, Callable[[Say], None]]


def main(request_descriptor: int, answers: int) -> None:
    """Serve one request, which comes as JSON, with lines of JSON."""
    with open(request_descriptor, encoding="utf-8") as file:
        request = json.load(file)
    sys.dont_write_bytecode = True
    sys.path.insert(0, request["path"])
    say = sender(answers)
    run(lambda send: _serve(request, send), say)


def _serve(request: Message, say: Say) -> None:
    device_index = request["device_index"]
    if request["simulate"]:
        stood_in = pretend(
            request["simulate"],
            request["package_folder"],
            request["optional"],
            request["npu_packages"],
            request["module_of_distribution"],
        )
        say({"event": "simulated", "packages": stood_in})
    if not _import(request, say):
        return
    found = kernel_specs(request["package"], request["registry"], request["kernel_spec"])
    say(
        {
            "event": "registry",
            "kernel_specs": [describe_kernel_spec(spec) for _, spec in found],
            "op_specs": [
                describe_op_spec(spec)
                for spec in op_specs(request["package"], request["register_op"], request["op_spec"])
            ],
        }
    )
    tasks = _tasks(found, request)
    only = request["only"]
    if only is None:
        _fork_all(tasks, request, say)
        return
    for key, work in tasks:
        if key == only:
            show_stacks_before(float(request["timeout"]))
            use_device(device_index)
            work(lambda answer: say({"event": "answer", "key": only, "answer": answer}))


def _tasks(found: list[tuple[Any, Any]], request: Message) -> list[Task]:
    """What is asked of the program, by key: its environment, its kernels, its slots, its configuration."""
    device_index = request["device_index"]
    tasks: list[Task] = [
        (
            ENVIRONMENT,
            lambda send: send(
                describe_environment(request["optional"], device_index, simulated=bool(request["simulate"]))
            ),
        ),
        *(
            (f"{spec.op_name}/{spec.variant}/{spec.name}", _kernel_task(registry, spec, request))
            for registry, spec in found
        ),
    ]
    if request["slot_modules"]:
        tasks.append((SLOTS, lambda send: tell_slots(request, send)))
    if request["config_module"]:
        tasks.append((CONFIG, lambda send: tell_config_fields(request, send)))
    if request["bind"]:
        tasks.append((BIND, lambda send: tell_bindings(request, send)))
    return tasks


def _import(request: Message, say: Say) -> bool:
    started, memory = time.perf_counter(), resident_memory()
    failure: BaseException | None = None
    with recorded() as recording:
        try:
            importlib.import_module(request["ops_package"])
        except BaseException as error:
            failure = error
    optional = request["optional"]
    message: Message = {
        "event": "import",
        "seconds": round(time.perf_counter() - started, 4),
        "memory": resident_memory() - memory,
        "packages": costs(recording),
        "optional": loaded_optional(recording, optional),
    }
    if failure is not None:
        message["error"] = describe_error(failure)
        message["missing"] = missing_package(failure, request["package"], optional)
    say(message)
    return failure is None


def _kernel_task(registry: Any, spec: Any, request: Message) -> Callable[[Say], None]:
    def work(send: Say) -> None:
        answer, kernel = resolve_kernel(registry, spec, request)
        send(answer)
        if kernel is not None and request["call"]:
            send({**answer, "call": call_kernel(kernel, spec, request)})

    return work


def _fork_all(tasks: list[Task], request: Message, say: Say) -> None:
    """Do every task in a process of its own, unless the first one shows that an accelerator does not survive a fork."""
    if is_found("torch"):
        # Whatever a kernel does needs it, and importing it once takes less than importing it in each process.
        with suppress(ImportError, OSError, RuntimeError):
            importlib.import_module("torch")
    seconds = float(request["timeout"])
    limits = Limits(seconds, seconds, int(request["memory"]))
    bound = not has_accelerator_files()

    def starting(task: Task) -> Callable[[], Any]:
        key, work = task

        def in_fork(send: Say) -> None:
            use_device(request["device_index"])
            work(lambda answer: send({"answer": answer}))

        return lambda: start(key, in_fork, limits, bound_addresses=bound)

    for chunk, jobs in ((tasks[:1], 1), (tasks[1:], int(request["jobs"]))):
        for process, event in watch([starting(task) for task in chunk], jobs, limits):
            if isinstance(event, Ending):
                output = process.output
                say(
                    {"event": "ended", "key": process.key, "kind": event.kind, "detail": event.detail, "output": output}
                )
                continue
            say({"event": "answer", "key": process.key, **event})
            if process.key == ENVIRONMENT and not event.get("answer", {}).get("fork_safe", True):
                say({"event": "alone", "keys": [key for key, _ in tasks]})
                return


def run_from_command_line() -> None:
    """The two descriptors are the last arguments. Nothing that the program registered for its end is run."""
    main(int(sys.argv[-2]), int(sys.argv[-1]))
    os._exit(0)
