"""An NPU table beside the ops config lacks a registered op, or has an entry that stands for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.npu_tables import NpuTable, NpuTables, TableEntry
from veomni_opslint.registrations import Unknown
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    tables, config = model.npu_tables, model.ops_config
    if tables is None or config is None:
        return
    if tables.allowed is not None and tables.allowed.complete:
        yield from _missing_ops(model, tables.allowed)
    fields = {field.name for field in config.fields}
    for table in (tables.allowed, tables.required, tables.fallback):
        for entry in table.entries if table is not None else ():
            if table is not None and fields and entry.field not in fields:
                yield rule.finding(
                    entry.place,
                    f"`{entry.field}` in {table.name} is no field of {model.dialect.ops_config}: "
                    "reading it raises AttributeError, or the entry has no effect; rename or remove it",
                )
            elif table is not None and table is not tables.allowed:
                yield from _contradictions(model, tables, table, entry)


def _missing_ops(model: OpsModel, allowed: NpuTable) -> Iterator[Finding]:
    for spec in model.registrations.op_specs:
        field = spec.config_field
        if isinstance(field, Unknown) or allowed.entry(field) is not None:
            continue
        yield rule.finding(
            allowed.place,
            f"{allowed.name} has no entry for `{field}` of the registered op `{spec.name}`: any value passes on an "
            "NPU, or the check of the table fails every configuration; add the field with what an NPU allows",
            [Related(spec.place, f"`{spec.name}` is registered here")],
        )


def _contradictions(model: OpsModel, tables: NpuTables, table: NpuTable, entry: TableEntry) -> Iterator[Finding]:
    allowed = tables.allowed.entry(entry.field) if tables.allowed is not None else None
    if allowed is None or allowed.values is None:
        return
    names = {value.name for value in allowed.values} | {model.dialect.eager}
    for value in entry.values or ():
        if value.name not in names:
            yield rule.finding(
                value.place,
                f"{table.name} gives `{value.name}` for `{entry.field}`, which {model.dialect.npu_allowed} does not "
                "allow: on an NPU the configuration is rejected whatever the user writes; make the tables agree",
                [Related(allowed.place, f"{model.dialect.npu_allowed} has the field here")],
            )
