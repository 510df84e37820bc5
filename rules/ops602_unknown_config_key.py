"""A YAML file of a job gives a key that the arguments do not have at that place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_classes import ArgumentClass
from veomni_opslint.model.job_files import JobFile
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.rule import Rule
from veomni_opslint.yaml_documents import YamlEntry, YamlNode

rule = Rule.of(__name__, Severity.ERROR)

_MAX_DEPTH = 12


def check(model: OpsModel) -> Iterator[Finding]:
    for job in model.job_files:
        if job.yaml.problem:
            place = job.yaml.place or Place(job.yaml.path, 1)
            yield rule.finding(place, f"the file {job.yaml.problem}, so no job can read it; correct it there")
        elif job.yaml.root is not None:
            reported: set[Place] = set()
            for finding in _in(model, job, job.yaml.root, job.roots, ()):
                if finding.place not in reported:
                    reported.add(finding.place)
                    yield finding


def _in(
    model: OpsModel, job: JobFile, node: YamlNode, classes: Sequence[ArgumentClass], path: tuple[str, ...]
) -> Iterator[Finding]:
    """Faults in a mapping that may fill any of *classes*."""
    for entry in node.entries:
        having = [one for one in classes if entry.key in one.fields]
        if not having:
            if all(one.closed for one in classes) and not (not path and entry.place.line in job.anchors):
                yield _finding(model, job, entry, classes, path)
            continue
        held = [one.fields[entry.key].holds for one in having]
        inner = [model.argument_classes.get(key) for key in held if key is not None]
        known = [one for one in inner if one is not None]
        if entry.value.kind == "mapping" and len(known) == len(held) and len(path) < _MAX_DEPTH:
            yield from _in(model, job, entry.value, known, (*path, entry.key))


def _finding(
    model: OpsModel, job: JobFile, entry: YamlEntry, classes: Sequence[ArgumentClass], path: tuple[str, ...]
) -> Finding:
    written = ".".join((*path, entry.key))
    hint = _hint(model, job, entry, classes)
    shown = next((one for one in classes if one.key[0].startswith(f"{model.package}.")), classes[0])
    held = shown.key[1]
    return rule.finding(
        entry.place,
        f"`{written}` is no argument of a job: {held} has no field `{entry.key}`, so the setting is dropped and has no "
        f"effect; {hint}",
        [Related(shown.place, f"the class {held}")],
    )


def _hint(model: OpsModel, job: JobFile, entry: YamlEntry, classes: Sequence[ArgumentClass]) -> str:
    """What was probably meant: a field of the same name elsewhere, or one of a similar name here."""
    section = entry.value.kind == "mapping"
    here = {field.name: field for one in classes for field in one.fields.values()}
    fitting = [name for name, field in here.items() if not section or field.holds is not None]
    elsewhere = [] if section else sorted(set(_places_of(model, entry.key, job.roots, ())))
    if elsewhere:
        return f"it exists at {' and '.join(f'`{place}`' for place in elsewhere)}: move it there"
    near = nearest(entry.key, fitting)
    return f"did you mean `{near}`?" if near else "remove it, or add the field"


def _places_of(model: OpsModel, key: str, classes: Sequence[ArgumentClass], path: tuple[str, ...]) -> Iterator[str]:
    """Where in the tree of arguments there is a field of that name."""
    for one in classes:
        if key in one.fields:
            yield ".".join((*path, key))
        for field in one.fields.values():
            inner = model.argument_classes.get(field.holds) if field.holds is not None else None
            if inner is not None and len(path) < _MAX_DEPTH:
                yield from _places_of(model, key, [inner], (*path, field.name))
