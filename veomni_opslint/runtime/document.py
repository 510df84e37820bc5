"""``opslint runtime`` as JSON: everything that was seen, and the findings as ``opslint check`` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from veomni_opslint.findings import Place
from veomni_opslint.report import Report
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.runtime.observation import Failure, ImportState, KernelState, RuntimeRun

Document = dict[str, object]


def render_json(run: RuntimeRun, report: Report) -> str:
    """The document as text."""
    return json.dumps(runtime_document(run, report), indent=2) + "\n"


def runtime_document(run: RuntimeRun, report: Report) -> Document:
    """Everything, as the JSON object that docs/runtime.md describes."""
    checked: Document = json.loads(FORMATS["json"](report, Presentation()))
    statuses = [kernel.status for kernel in run.kernels]
    return {
        "version": 1,
        "tool_version": checked["tool_version"],
        "root": checked["root"],
        "package": run.model.package,
        "simulated": run.simulated or None,
        "stand_ins": list(run.stand_ins),
        "environment": asdict(run.environment),
        "import": _imported(run.imported),
        "kernels": [_kernel(kernel) for kernel in run.kernels],
        "op_specs": [dict(spec) for spec in run.op_specs],
        "modules": [asdict(module) for module in run.modules],
        "config_fields": None if run.config_fields is None else [dict(field) for field in run.config_fields],
        "bindings": [{**asdict(one), "place": str(one.place), "agrees": one.agrees} for one in run.bindings],
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        "findings": checked["findings"],
        "summary": checked["summary"],
    }


def _kernel(kernel: KernelState) -> Document:
    fields = kernel.fields
    return {
        "op_name": kernel.op_name,
        "variant": kernel.variant,
        "name": kernel.name,
        "device_type": fields["device_type"],
        "min_compute_capability": fields["min_compute_capability"],
        "max_compute_capability": fields["max_compute_capability"],
        "factory": _factory(fields["factory"]),
        **_at(kernel.factory_place),
        "hardware": kernel.hardware,
        "status": kernel.status,
        "reason": kernel.reason or None,
        "missing": kernel.missing or None,
        "extra": kernel.extra or None,
        "returned": kernel.returned or None,
        "seconds": kernel.seconds,
        "error": _failure(kernel.failure),
        "output": kernel.output or None,
        "call": None if kernel.call is None else {**asdict(kernel.call), "failure": _failure(kernel.call.failure)},
    }


def _factory(described: object) -> str | None:
    if not isinstance(described, Mapping) or not described.get("qualname"):
        return None
    return f"{described['module']}:{described['qualname']}"


def _failure(failure: Failure | None) -> Document | None:
    if failure is None:
        return None
    return {
        "type": failure.type,
        "message": failure.message,
        "frames": [
            {
                "file": frame.place.path if frame.place is not None else frame.file,
                "line": frame.line,
                "function": frame.function,
                "text": frame.text,
            }
            for frame in failure.frames
        ],
    }


def _imported(imported: ImportState) -> Document:
    return {
        "status": imported.status,
        "reason": imported.reason or None,
        "seconds": imported.seconds,
        "memory": imported.memory,
        "packages": [asdict(one) for one in imported.packages],
        "optional": [
            {
                "package": one.package,
                "chain": [
                    {
                        "importer": link.importer,
                        "module": link.module,
                        "file": link.place.path if link.place is not None else link.file,
                        "line": link.line,
                    }
                    for link in one.chain
                ],
            }
            for one in imported.optional
        ],
        "error": _failure(imported.failure),
    }


def _at(place: Place | None) -> Document:
    return {"file": place.path if place is not None else None, "line": place.line if place is not None else None}
