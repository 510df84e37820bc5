"""Where what the program registers differs from what opslint knows without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel
from veomni_opslint.model.model_files import model_files
from veomni_opslint.registrations import Factory, Hardware, KernelSpec, OpSpec, Unknown
from veomni_opslint.runtime.kernels import kernel_place, package_place
from veomni_opslint.runtime.observation import KernelState, RuntimeRun

_BACKEND = ("entry", "requires", "side_effect", "replace_forward", "entry_is_factory", "target_override")
_OP_SPEC = ("config_field", "scope", "default", "global_slot")


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; ``runtime_place`` is the place that belongs to it in the running program."""

    place: Place
    what: str
    runtime_place: Place | None = None


def differences(run: RuntimeRun) -> Iterator[Difference]:
    """Of kernel specs, op specs, slots, config fields, and of what slots are bound to."""
    yield from _kernel_specs(run)
    yield from _op_specs(run)
    yield from _slots(run)
    yield from _config_fields(run)
    for one in run.bindings:
        if not one.agrees:
            known = f"{one.expected}{f' ({one.expected_reason})' if one.expected_reason else ''}"
            got = f"{one.status}{f' ({one.reason})' if one.reason else ''}"
            yield Difference(one.place, f"the slot `{one.var}` is {known} by its source and {got} when it is bound")


def _kernel_specs(run: RuntimeRun) -> Iterator[Difference]:
    static: dict[tuple[str, str, str], list[KernelSpec]] = {}
    for spec in run.model.registrations.kernel_specs:
        static.setdefault((spec.op_name, spec.variant, spec.name), []).append(spec)
    running = {kernel.key: kernel for kernel in run.kernels}
    for key, specs in static.items():
        title = f"{key[0]}/{key[1]} `{key[2]}`"
        kernel = running.get(key)
        if kernel is None:
            if not all(_depends_on_machine(run.model, spec.conditions) for spec in specs):
                yield Difference(
                    specs[-1].place, f"{title} is not registered in the running program{_unmet(specs[-1])}"
                )
            continue
        found = [list(_fields(spec, kernel)) for spec in specs]
        if all(found):
            yield Difference(specs[-1].place, f"{title} differs: {'; '.join(found[-1])}", kernel.factory_place)
    for key, kernel in running.items():
        if key not in static and not _may_be_unresolved(run.model, key):
            yield Difference(
                kernel_place(run, kernel), f"{kernel.title} is registered only in the running program", None
            )


def _fields(spec: KernelSpec, kernel: KernelState) -> Iterator[str]:
    if isinstance(spec.hardware, Hardware):
        for name in ("device_type", "min_compute_capability", "max_compute_capability"):
            written = getattr(spec.hardware, name)
            yield from _differing(name, list(written) if isinstance(written, tuple) else written, kernel.fields[name])
    yield from _differing("description", spec.description, kernel.fields["description"])
    factory, running = spec.factory, kernel.fields["factory"]
    if isinstance(factory, Factory) and factory.place is not None and isinstance(running, Mapping):
        name = factory.qualname.rpartition(".")[2]
        seen = str(running["qualname"]).rpartition(".")[2]
        same_line = kernel.factory_place == Place(factory.place.path, factory.place.line)
        if name and seen and name != seen and not same_line:
            yield f"factory is `{name}` in the source and `{seen}` when it runs"


def _op_specs(run: RuntimeRun) -> Iterator[Difference]:
    running = {str(spec["name"]): spec for spec in run.op_specs}
    static: dict[str, OpSpec] = {spec.name: spec for spec in run.model.registrations.op_specs}
    for name, spec in static.items():
        seen = running.get(name)
        if seen is None:
            if not _depends_on_machine(run.model, spec.conditions):
                yield Difference(spec.place, f"the op `{name}` is not registered in the running program{_unmet(spec)}")
            continue
        found = [text for field in _OP_SPEC for text in _differing(field, getattr(spec, field), seen[field])]
        found += _backends(spec, seen["backends"])
        if found:
            yield Difference(spec.place, f"the op `{name}` differs: {'; '.join(found)}")
    if not any(item.of_op for item in run.model.registrations.unresolved):
        for name in running:
            if name not in static:
                yield Difference(package_place(run), f"the op `{name}` is registered only in the running program")


def _backends(spec: OpSpec, seen: object) -> Iterator[str]:
    if isinstance(spec.backends, Unknown) or not isinstance(seen, Mapping):
        return
    names = [name for name, _ in spec.backends]
    if set(names) != set(seen):
        yield f"backends are {_listed(names)} in the source and {_listed(seen)} when it runs"
    for name, backend in spec.backends:
        for field in _BACKEND if name in seen else ():
            written = getattr(backend, field)
            value = list(written) if isinstance(written, tuple) else written
            yield from _differing(f"{field} of backend `{name}`", value, seen[name][field])


def _slots(run: RuntimeRun) -> Iterator[Difference]:
    known = {file.module: file for file in model_files(run.model)}
    for module in run.modules:
        file = known.get(module.name)
        if module.status != "ok" or file is None:
            continue
        static = {slot.var: slot for slot in file.slots}
        running = {str(slot["var"]): slot for slot in module.slots}
        for var, slot in static.items():
            seen = running.get(var)
            if seen is None:
                yield Difference(slot.place, f"the module has no slot `{var}` when it runs")
                continue
            found = [
                text
                for field, value in (("op_name", slot.op_name), ("variant", slot.variant))
                if value is not None
                for text in _differing(field, value, seen[field])
            ]
            if found:
                yield Difference(slot.place, f"the slot `{var}` differs: {'; '.join(found)}")
        for var in running:
            if var not in static:
                yield Difference(Place(file.path, 1), f"the slot `{var}` exists only when the module runs")


def _config_fields(run: RuntimeRun) -> Iterator[Difference]:
    config = run.model.ops_config
    if config is None or run.config_fields is None:
        return
    running = {str(field["name"]): field for field in run.config_fields}
    owner = run.model.dialect.ops_config
    for field in config.fields:
        seen = running.get(field.name)
        if seen is None:
            yield Difference(field.place, f"{owner} has no field `{field.name}` when it runs")
            continue
        found = list(_differing("default", field.default, seen["default"])) if field.default is not None else []
        if field.choices is not None and seen["choices"] is not None:
            found += _differing("choices", list(field.choices), seen["choices"])
        if found:
            yield Difference(field.place, f"{owner}.{field.name} differs: {'; '.join(found)}")
    names = [field.name for field in config.fields]
    for name in running:
        if name not in names:
            yield Difference(config.place, f"{owner} has the field `{name}` only when it runs")


def _differing(name: str, written: object, seen: object) -> Iterator[str]:
    if not isinstance(written, Unknown) and written != seen:
        yield f"{name} is {written!r} in the source and {seen!r} when it runs"


def _depends_on_machine(model: OpsModel, conditions: tuple[str, ...]) -> bool:
    """Whether a registration runs only under a condition that asks for hardware or a package."""
    dialect = model.dialect
    words = (*dialect.npu_guards, *dialect.cuda_guards, *dialect.availability_checks, "available")
    return any(word in condition for condition in conditions for word in words)


def _unmet(spec: KernelSpec | OpSpec) -> str:
    return f": it is registered only if `{' and '.join(spec.conditions)}`" if spec.conditions else ""


def _may_be_unresolved(model: OpsModel, key: tuple[str, str, str]) -> bool:
    return any(
        not item.of_op and item.op_name in {None, key[0]} and item.variant in {None, key[1]}
        for item in model.registrations.unresolved
    )


def _listed(names: object) -> str:
    return ", ".join(f"`{name}`" for name in names) if isinstance(names, (list, dict)) and names else "none"
