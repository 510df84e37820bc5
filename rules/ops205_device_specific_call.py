"""`torch.cuda.*`, `.cuda()`, `"cuda"` or `"nccl"` stands in device-agnostic code instead of the device helpers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from veomni_opslint.errors import RunError
from veomni_opslint.facts import FileFacts
from veomni_opslint.file_walk import Excludes
from veomni_opslint.findings import Finding, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.device_calls import DeviceUse, DeviceUses
from veomni_opslint.model.gpu_files import GpuFiles
from veomni_opslint.proposals import Proposal
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)

OPTIONS = {
    "folders": ("tasks", "tests"),
    "defaults": ("init_device",),
    "exempt": (
        {
            "path": "**/moe/_kernels/**",
            "reason": "the Triton group GEMM and its tuning for NVIDIA GPUs, of which the NPU has its own",
        },
        {"path": "**/group_gemm/utils/**", "reason": "where the tuning of the group GEMM was before"},
        {
            "path": "**/gated_delta_rule/_ascend/**",
            "reason": "vendored, kept as upstream has it; its CUDA branches are never taken on Ascend",
        },
        {
            "path": "**/transformers/flux/encode_flux.py",
            "reason": "a default that only deprecated tasks rely on, which run on GPUs",
        },
    ),
}


def check(model: OpsModel) -> Iterator[Finding]:
    if not any(guard in facts.text for facts in model.files.values() for guard in model.dialect.npu_guards):
        # A tree without a word about the NPU is not meant to run on one.
        return
    uses = DeviceUses(model, _strings(model, "defaults"), GpuFiles(model))
    helpers: Mapping[str, str] | None = None
    for module, facts in _modules(model):
        for use in uses.of(module, facts):
            helpers = _helpers(model) if helpers is None else helpers
            related = []
            if use.caller is not None:
                caller = model.module(use.caller[0]).path
                related.append(Related(model.place(caller, use.caller[1]), "called here, without a guard as well"))
            yield rule.finding(model.place(facts.path, use.span), _message(use, helpers), related)


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.device_helping import helped  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - as above

    return put_back_or(model, finding.place, lambda: helped(model, finding.place, _helpers(model)))


def _modules(model: OpsModel) -> Iterator[tuple[str, FileFacts]]:
    """The modules that the rule is about and that speak of CUDA at all."""
    folders = tuple(f"{folder}/" for folder in _strings(model, "folders"))
    exempt = Excludes([path for path, _ in _exemptions(model)])
    inside = f"{model.package}."
    for module, facts in sorted(model.symbols.modules.items()):
        if "cuda" not in facts.text and "nccl" not in facts.text:
            continue
        if not (module == model.package or module.startswith(inside) or facts.path.startswith(folders)):
            continue
        if facts.tree is not None and exempt.match(facts.path) is None:
            yield module, facts


def _exemptions(model: OpsModel) -> Iterator[tuple[str, str]]:
    """Path patterns with their reasons, as the settings give them."""
    given = model.options[rule.name]["exempt"]
    for entry in given if isinstance(given, tuple) else ():
        path, reason = (entry.get("path"), entry.get("reason")) if isinstance(entry, dict) else (None, None)
        if not (isinstance(path, str) and path and isinstance(reason, str) and reason.strip()) or len(entry) != 2:
            raise RunError(
                f"rules.{rule.name}.exempt: every entry has to be a table with a `path` and a `reason`, "
                f'as {{path = "veomni/x.py", reason = "…"}}; not {entry!r}'
            )
        yield path, reason


def _strings(model: OpsModel, option: str) -> tuple[str, ...]:
    given = model.options[rule.name][option]
    return tuple(str(one) for one in given) if isinstance(given, tuple) else ()


def _helpers(model: OpsModel) -> Mapping[str, str]:
    """The device helpers that the project really has, by what they are for."""
    wanted = model.dialect.device_helpers
    defined = {
        one.name
        for _, facts in model.modules_in(model.package)
        if any(f"def {name}(" in facts.text for name in wanted.values())
        for one in facts.scopes
        if one.parent == 0
    }
    return {purpose: name for purpose, name in wanted.items() if name in defined}


def _message(use: DeviceUse, helpers: Mapping[str, str]) -> str:
    kind, written = use.kind, f"`{use.written}`"
    where = "in code that hosts with other accelerators run too"
    if kind == "question":
        return (
            f"{written} {where}: on an NPU host the answer is that of a host without accelerator, and what depends on "
            f"it is left out or done on the CPU; {_remedy(use, helpers)}"
        )
    if kind == "choice":
        return f"{written} is chosen by hand {where}: a CPU host gets it too; {_remedy(use, helpers)}"
    return f"{written} {where}: on an NPU host it raises or goes to a device that is not there; {_remedy(use, helpers)}"


def _remedy(use: DeviceUse, helpers: Mapping[str, str]) -> str:
    last = use.written.rpartition(".")[2]
    purpose = {
        "namespace": {"current_device": "id"}.get(last, last if last in helpers else "module"),
        "question": "type",
        "backend": "backend",
    }.get(use.kind, "backend" if "nccl" in use.written else "type")
    helper = helpers.get(purpose)
    if helper is None:
        return "ask a device helper, or put it behind a CUDA guard"
    if use.kind == "method":
        return f"use `.to({helper}())`"
    tail = f".{use.written.removeprefix('torch.cuda.')}" if purpose == "module" else ""
    return f"use `{helper}(){tail}`, or put it behind a CUDA guard" if use.kind == "namespace" else f"use `{helper}()`"
