"""From the messages of processes to what is known about the program."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.project_metadata import extra_of
from veomni_opslint.runtime.child.watch import Ending, Message
from veomni_opslint.runtime.observation import (
    CallState,
    Environment,
    Failure,
    Frame,
    ImportLink,
    ImportState,
    KernelState,
    LoadedOptional,
    ModuleState,
    PackageCost,
    Status,
)
from veomni_opslint.runtime.request import RuntimeOptions

_MIB = 1 << 20
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_NAMED = ("function", "type", "builtin_function_or_method", "method")


class Decoder:
    """Puts the places of messages into the project, and their reasons into words."""

    def __init__(self, model: OpsModel, options: RuntimeOptions) -> None:
        self._files = model.files
        self._root = os.path.realpath(model.project.root)
        self._project_root = model.project.root
        self._options = options

    def kernel(self, spec: Message, seen: Message) -> KernelState:
        """The state of one kernel, from its spec and what its process said and did."""
        answer = seen.get("answer") or {}
        factory = spec["factory"]
        failure = self.failure(answer.get("error") or seen.get("error"))
        status, reason = self._verdict(answer, seen, failure)
        missing = str(answer.get("missing") or "")
        extra = extra_of(self._project_root, missing) if missing else ""
        if status == "missing":
            reason = _missing(missing, extra) + _own_words(failure, missing)
        elif status == "gated":
            reason = f"it needs {_hardware(spec)}"
        return KernelState(
            op_name=str(spec["op_name"]),
            variant=str(spec["variant"]),
            name=str(spec["name"]),
            fields=spec,
            factory_place=self.place(factory["file"], factory["line"]),
            status=status,
            hardware=answer.get("hardware"),
            reason=reason,
            missing=missing,
            extra=extra,
            returned=_returned(answer.get("returned")),
            seconds=answer.get("seconds"),
            failure=failure,
            output=str(seen.get("ending", {}).get("output", "")),
            call=self._call(answer, seen) if self._options.call and status == "ok" else None,
        )

    def _call(self, answer: Message, seen: Message) -> CallState | None:
        called = answer.get("call")
        if called is None:
            error = self.failure(seen.get("error"))
            ending = seen.get("ending", {})
            reason = self._ended(str(ending.get("kind", "done")), str(ending.get("detail", "")))[1]
            return CallState(passed=False, reason=reason if error is None else str(error), failure=error)
        if not called["offered"]:
            return None
        failure = self.failure(called.get("error"))
        reason = str(failure) if failure is not None else "" if called["passed"] else "it differs from its definition"
        return CallState(
            passed=called["passed"],
            examples=called["examples"],
            dtype=called["dtype"],
            forward=called["forward"],
            backward=called["backward"],
            allowed=called.get("allowed"),
            reason=reason,
            failure=failure,
        )

    def _verdict(self, answer: Message, seen: Message, failure: Failure | None) -> tuple[Status, str]:
        if answer:
            status: Status = answer["status"]
            if status == "not-callable":
                return status, f"resolve() returned {_returned(answer['returned'])}, which cannot be called"
            if status == "broken":
                return status, str(failure)
            return status, ""
        error = seen.get("error")
        if error is not None and error.get("memory"):
            return "crashed", self._too_much_memory()
        if error is not None:
            return "broken", str(failure)
        ending = seen.get("ending", {})
        return self._ended(str(ending.get("kind", "done")), str(ending.get("detail", "")))

    def _ended(self, kind: str, detail: str) -> tuple[Status, str]:
        if kind == "timeout":
            return "timeout", f"no answer within {self._options.timeout:g} s"
        if kind == "memory":
            return "crashed", self._too_much_memory()
        if kind == "signal":
            return "crashed", f"the process was killed by {detail}"
        return "crashed", f"the process ended itself with exit status {detail or 0}"

    def _too_much_memory(self) -> str:
        return f"it took more than the {self._options.memory // _MIB} MiB that it may take"

    def import_state(self, message: Message | None, ending: Ending, output: str) -> ImportState:
        """How importing the ops package went."""
        if message is None:
            status, reason = self._ended(ending.kind, ending.detail)
            if status == "timeout":
                reason = f"the import did not end within {self._options.import_timeout:g} s"
            return ImportState(status, reason=reason, output=output)
        failure = self.failure(message.get("error"))
        missing = str(message.get("missing") or "")
        status, reason = "ok", ""
        if missing:
            status, reason = "missing", _missing(missing, extra_of(self._project_root, missing))
        elif failure is not None:
            status, reason = "broken", str(failure)
        return ImportState(
            status=status,
            seconds=message["seconds"],
            memory=message["memory"],
            packages=tuple(PackageCost(**one) for one in message["packages"]),
            optional=tuple(self._loaded(one) for one in message["optional"]),
            reason=reason,
            missing=missing,
            failure=failure,
            output=output,
        )

    def _loaded(self, message: Message) -> LoadedOptional:
        chain = tuple(ImportLink(**link, place=self.place(link["file"], link["line"])) for link in message["chain"])
        return LoadedOptional(message["package"], chain)

    def environment(self, message: Message | None, python: str) -> Environment:
        """The machine; only the interpreter where asking for the rest failed."""
        if message is None:
            return Environment(executable=python, problem="asking for the environment failed")
        known: dict[str, Any] = {key: value for key, value in message.items() if key != "fork_safe"}
        return Environment(**{**known, "devices": tuple(known["devices"])})

    def module(self, message: Message) -> ModuleState:
        """A module with slots."""
        failure = self.failure(message.get("error"))
        if failure is not None:
            missing = str(message.get("missing") or "")
            status: Status = "missing" if missing else "broken"
            reason = _missing(missing, extra_of(self._project_root, missing)) if missing else str(failure)
            return ModuleState(str(message["module"]), status, reason=reason, missing=missing)
        return ModuleState(str(message["module"]), "ok", tuple(message["slots"]), tuple(message["config_slots"]))

    def failure(self, error: Mapping[str, Any] | None) -> Failure | None:
        """An exception, with those of its frames that are in the project placed there."""
        if error is None:
            return None
        frames = tuple(Frame(**frame, place=self.place(frame["file"], frame["line"])) for frame in error["frames"])
        return Failure(str(error["type"]), str(error["message"]), frames)

    def place(self, file: str, line: int) -> Place | None:
        """The place of a line if its file is one of the project."""
        path = os.path.relpath(os.path.realpath(file), self._root).replace(os.sep, "/") if file else ""
        return Place(path, line) if path in self._files else None


def _missing(package: str, extra: str) -> str:
    if ".so" in package:
        return f"the library {package} is not installed"
    return f"{package} is not installed" + (f"; the extra `{extra}` brings it" if extra else "")


def _own_words(failure: Failure | None, package: str) -> str:
    """What the program says, where that is more than that the package is missing."""
    if failure is None or failure.type in {"ModuleNotFoundError", "ImportError"} or ".so" in package:
        return ""
    plain = rf"\b{package}\W+is not installed\.?$"
    return "" if re.search(plain, failure.message.replace("-", "_")) else f" ({failure.message})"


def _hardware(spec: Message) -> str:
    low, high = spec["min_compute_capability"], spec["max_compute_capability"]
    if low is not None and low == high:
        return f"{spec['device_type']} with compute capability {low}"
    bounds = [f"{low} or higher"] * (low is not None) + [f"{high} or lower"] * (high is not None)
    return f"{spec['device_type']}{' with compute capability ' if bounds else ''}{' and '.join(bounds)}"


def _returned(returned: Mapping[str, Any] | None) -> str:
    if returned is None:
        return ""
    named = f"{returned['module']}:{returned['qualname']}"
    if returned["qualname"] and returned["type"] in _NAMED:
        return named
    if returned["qualname"] and returned["type"] == "partial":
        return f"partial of {named}"
    return f"{_ADDRESS.sub('', returned['text'])} ({returned['type']})"
