"""One slip that is reported twice: in a generated file, and in the patch config that the file is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from veomni_opslint.findings import Finding, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.patch_plans import PatchPlan

_NAMED = re.compile(r"`[^`]+`|\"[^\"]+\"")


def with_twins(findings: Iterable[Finding], model: OpsModel) -> tuple[Finding, ...]:
    """The *findings*; of two that are one slip, each names the place of the other."""
    findings = tuple(findings)
    others: dict[Finding, list[Related]] = {}
    for generated, config in _twins(findings, model):
        others.setdefault(generated, []).append(Related(config.place, "the same slip, in the patch config: start here"))
        others.setdefault(config, []).append(Related(generated.place, "the same slip, in the file made from it"))
    return tuple(_with_places(finding, others.get(finding, ())) for finding in findings)


def _twins(findings: tuple[Finding, ...], model: OpsModel) -> Iterator[tuple[Finding, Finding]]:
    """Pairs of a finding in a generated file and the only one like it in what the file is made from."""
    suffix, folder = f"{model.dialect.patch_config_suffix}.py", f"/{model.dialect.generated_folder}/"
    in_configs = [finding for finding in findings if finding.place.path.endswith(suffix)]
    if not in_configs:
        return
    plans: Mapping[str, PatchPlan] = {}
    for finding in findings:
        if folder in finding.place.path:
            plans = plans or {_path(plan): plan for plan in model.patch_plans.values()}
            sources = _sources(plans.get(finding.place.path))
            alike = [one for one in in_configs if one.place.path in sources and _is_alike(one, finding)]
            if len(alike) == 1:
                yield finding, alike[0]


def _path(plan: PatchPlan) -> str:
    """The path of the generated file, which lies in a folder beside the config."""
    depth = plan.module.count(".")
    root = plan.path.split("/")[: -depth - 1]
    return "/".join((*root, *plan.generated.split("."))) + ".py"


def _sources(plan: PatchPlan | None) -> set[str]:
    if plan is None:
        return set()
    return {plan.path, *(block.path for block in plan.blocks), *(code.origin.path for code in plan.code)}


def _is_alike(one: Finding, other: Finding) -> bool:
    return one.code == other.code and _NAMED.findall(one.message) == _NAMED.findall(other.message)


def _with_places(finding: Finding, others: Iterable[Related]) -> Finding:
    """A place that is named already only gets the words that tell why."""
    new = {(one.place.path, one.place.line): one for one in others}
    if not new:
        return finding
    kept = [one for one in finding.related if (one.place.path, one.place.line) not in new]
    return replace(finding, related=(*kept, *new.values()))
