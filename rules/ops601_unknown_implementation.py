"""A YAML value, a default or an NPU table names an implementation that no op with that config field has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.argument_classes import ArgumentClass, ArgumentField
from veomni_opslint.model.binding import config_field_name
from veomni_opslint.model.job_files import JobFile
from veomni_opslint.model.known_values import known_values
from veomni_opslint.model.ops_config import OpsConfig
from veomni_opslint.model.registered_pairs import nearest
from veomni_opslint.rule import Rule
from veomni_opslint.yaml_documents import YamlEntry, YamlNode

rule = Rule.of(__name__, Severity.ERROR)

_MAX_DEPTH = 12
_LISTED = 8


def check(model: OpsModel) -> Iterator[Finding]:
    config = model.ops_config
    known = (
        {field.name: known_values(model, config, field.name) for field in config.fields} if config is not None else {}
    )
    if config is not None:
        bound = {config_field_name(model, slot.op_name) for slot in model.slots if slot.op_name is not None}
        yield from _defaults(config, bound)
        yield from _tables(model, known, bound)
    for job in model.job_files:
        if job.yaml.root is not None:
            reported: set[Place] = set()
            for finding in _in(model, job, job.yaml.root, job.roots, known):
                if finding.place not in reported:
                    reported.add(finding.place)
                    yield finding


def _defaults(config: OpsConfig, bound: set[str]) -> Iterator[Finding]:
    """Defaults of fields that no slot is *bound* from: for slots, the registry decides, and other rules tell."""
    for field in config.fields:
        if field.name in bound or field.choices is None or field.default is None:
            continue
        if field.default not in field.choices:
            yield rule.finding(
                field.default_place,
                f"the default `{field.default}` of `{field.name}` is none of its choices ({_listed(field.choices)}): "
                f"nothing implements it and nobody could select it{_hint(field.default, field.choices)}",
            )


def _tables(model: OpsModel, known: dict[str, tuple[str, ...] | None], bound: set[str]) -> Iterator[Finding]:
    """Values that the table allows for fields that no slot is *bound* from."""
    tables = model.npu_tables
    for entry in tables.allowed.entries if tables is not None and tables.allowed is not None else ():
        values = known.get(entry.field)
        for value in entry.values or () if values is not None and entry.field not in bound else ():
            if values is not None and value.name not in (*values, model.dialect.eager):
                yield rule.finding(
                    value.place,
                    f"`{value.name}` is allowed for `{entry.field}` on an NPU, and nothing implements it "
                    f"({_listed(values)}); remove it, or implement it{_hint(value.name, values)}",
                )


def _in(
    model: OpsModel,
    job: JobFile,
    node: YamlNode,
    classes: Sequence[ArgumentClass],
    known: dict[str, tuple[str, ...] | None],
    depth: int = 0,
) -> Iterator[Finding]:
    """Faulty values in a mapping that may fill any of *classes*."""
    for entry in node.entries:
        fields = [one.fields[entry.key] for one in classes if entry.key in one.fields]
        inner = [model.argument_classes.get(field.holds) for field in fields if field.holds is not None]
        held = [one for one in inner if one is not None]
        if entry.value.kind == "mapping" and held and depth < _MAX_DEPTH:
            yield from _in(model, job, entry.value, held, known, depth + 1)
        elif fields and entry.key.endswith(model.dialect.implementation_suffix) and entry.value.kind == "string":
            having = [one for one in classes if entry.key in one.fields]
            allowed = [_allowed(model, one, entry.key, known) for one in having]
            values = tuple(dict.fromkeys(value for some in allowed for value in some or ()))
            if None not in allowed and entry.value.text not in values:
                internal = having[0].key[1] == model.dialect.ops_config
                made_of = model.internal_values.get((entry.key, entry.value.text), "") if internal else ""
                yield _finding(entry, values, having[0].fields[entry.key], made_of)


def _allowed(
    model: OpsModel, one: ArgumentClass, field: str, known: dict[str, tuple[str, ...] | None]
) -> tuple[str, ...] | None:
    return known.get(field) if one.key[1] == model.dialect.ops_config else one.fields[field].choices


def _finding(entry: YamlEntry, values: tuple[str, ...], field: ArgumentField, made_of: str) -> Finding:
    """*made_of* is the value that the config class replaces with that of the *entry*."""
    value = entry.value.text
    related = [Related(field.place, f"the field `{entry.key}`")]
    if made_of in values:
        return rule.finding(
            entry.value.place,
            f"`{value}` is the internal name that `{made_of}` of `{entry.key}` becomes when the configuration is "
            f"read: the job works only as long as the program makes and knows that name; write `{made_of}`",
            related,
        )
    if field.choices is not None:
        fault = f"`{value}` is none of the choices of `{entry.key}`, and a file is not checked against them: "
        consequence = "the job fails where the value is used, or works by accident"
    else:
        fault = f"nothing implements `{value}` for `{entry.key}`: "
        consequence = "the job fails when its model is built"
    return rule.finding(
        entry.value.place,
        f"{fault}{consequence}; there is {_listed(values)}{_hint(value, values)}",
        related,
    )


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:_LISTED])
    return shown + (", …" if len(values) > _LISTED else "")


def _hint(value: str, values: Sequence[str]) -> str:
    near = nearest(value, values)
    return f"; did you mean `{near}`?" if near else ""
