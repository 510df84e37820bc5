"""One slip that is reported twice: in a generated file, and in the patch config that the file is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from veomni_opslint.dialect import Dialect
from veomni_opslint.findings import Finding, Related

_NAMED = re.compile(r"`[^`]+`|\"[^\"]+\"")


def with_twins(findings: Iterable[Finding], dialect: Dialect) -> tuple[Finding, ...]:
    """The *findings*; of two that are one slip, each names the place of the other."""
    findings = tuple(findings)
    others: dict[Finding, list[Related]] = {}
    for generated, config in _twins(findings, dialect):
        others.setdefault(generated, []).append(Related(config.place, "the same slip, in the patch config: start here"))
        others.setdefault(config, []).append(Related(generated.place, "the same slip, in the file made from it"))
    return tuple(_with_places(finding, others.get(finding, ())) for finding in findings)


def _twins(findings: tuple[Finding, ...], dialect: Dialect) -> Iterator[tuple[Finding, Finding]]:
    """Pairs of a finding in a generated file and the only one like it in a patch config of the model."""
    suffix, folder = f"_{dialect.patch_config_suffix}.py", f"/{dialect.generated_folder}/"
    in_configs = [finding for finding in findings if finding.place.path.endswith(suffix)]
    for finding in findings if in_configs else ():
        model, inside, file = finding.place.path.rpartition(folder)
        if not inside:
            continue
        named = {related.place.path for related in finding.related}
        alike = [
            one
            for one in in_configs
            if _is_alike(one, finding) and (one.place.path in named or _folder(one).removesuffix("/patches") == model)
        ]
        if len(alike) > 1:
            own = f"/{file.removeprefix(dialect.generated_prefix).removesuffix('.py')}{suffix}"
            alike = [one for one in alike if one.place.path.endswith(own)]
        if len(alike) == 1:
            yield finding, alike[0]


def _folder(finding: Finding) -> str:
    return finding.place.path.rpartition("/")[0]


def _is_alike(one: Finding, other: Finding) -> bool:
    return one.code == other.code and _NAMED.findall(one.message) == _NAMED.findall(other.message)


def _with_places(finding: Finding, others: Iterable[Related]) -> Finding:
    """A place that is named already only gets the words that tell why."""
    new = {(one.place.path, one.place.line): one for one in others}
    if not new:
        return finding
    kept = [one for one in finding.related if (one.place.path, one.place.line) not in new]
    return replace(finding, related=(*kept, *new.values()))
