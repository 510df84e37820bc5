"""``opslint bind`` for a person: each model's slots, or models against ops, as tables for a terminal or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from veomni_opslint.bind.simulation import Binding, ModelBinding, SlotBinding
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Factory
from veomni_opslint.reporters.style import Presentation
from veomni_opslint.reporters.table import Layout, markdown_table, text_layout

Heading = Callable[[str], str]

_COLUMNS = ("slot", "op/variant", "implementation", "from", "gets")
_FAILURES = ("error", "unknown")
_ORIGINS = {"config": "configuration", "default": "default", "npu_fallback": "NPU fallback", "no_field": "no field"}


def render_text(result: Binding, presentation: Presentation, *, matrix: bool = False) -> str:
    """For a terminal, of its width, or for a file."""
    heading = lambda text: f"{presentation.bold(text)}\n"  # noqa: E731
    return "\n".join(_sections(result, text_layout(presentation), heading, matrix=matrix))


def render_markdown(result: Binding, *, matrix: bool = False) -> str:
    """For a page."""
    return "\n".join(_sections(result, markdown_table, lambda text: f"## {text}\n", matrix=matrix))


def _sections(result: Binding, table: Layout, heading: Heading, *, matrix: bool) -> Iterator[str]:
    if matrix:
        yield heading(f"Models and ops on {result.device}, with {_configuration(result)}")
        if result.models:
            yield table(*_matrix(result))
    else:
        for model in result.models:
            yield heading(f"{model.file.name} ({model.file.path})")
            yield table(_COLUMNS, [_row(slot) for slot in model.slots])
    if result.patches:
        yield heading("Models patched by a device patch")
        yield table(("model", "attribute", "op", "implementation", "from", "gets"), list(_patch_rows(result)))
    if result.rejected:
        yield heading("Rejected when the configuration is read, whatever the model")
        rows = [(value.field, _from(value.origin, value.place), value.error) for value in result.rejected]
        yield table(("field", "from", "error"), rows)
    failures = list(_failures(result))
    if failures:
        yield heading("Not bound")
        yield table(("model", "slot", "stage", "reason"), failures)
    yield _closing(result)


def _failures(result: Binding) -> Iterator[tuple[str, ...]]:
    for model in result.models:
        for slot in model.slots:
            if slot.status in _FAILURES:
                yield model.file.name, slot.slot.var, slot.stage or "not known", slot.reason
    for patch in result.patches:
        if patch.status in _FAILURES:
            stage = "patch" if patch.status == "error" else "not known"
            yield patch.patches.model, patch.target.attribute, stage, patch.reason


def _patch_rows(result: Binding) -> Iterator[tuple[str, ...]]:
    for patch in result.patches:
        origin = _from(patch.given.origin, patch.given.place) if patch.given is not None else ""
        op = patch.target.op_name
        yield patch.patches.model, patch.target.attribute, op, patch.backend or "?", origin, patch.status


def _configuration(result: Binding) -> str:
    return result.config if result.config is not None else "the defaults"


def _row(binding: SlotBinding) -> tuple[str, ...]:
    slot = binding.slot
    pair = f"{slot.op_name or '?'}/{slot.variant or '?'}"
    origin = _from(binding.origin, binding.given.place if binding.given is not None else None)
    return slot.var, pair, binding.requested or "?", origin, _gets(binding)


def _from(origin: str, place: Place | None) -> str:
    text = _ORIGINS[origin]
    return text if place is None or origin == "default" else f"{text}, {place.path}:{place.line}"


def _gets(binding: SlotBinding) -> str:
    spec = binding.spec
    if binding.status != "bound" or spec is None:
        return f"{binding.status} at {binding.stage}" if binding.status == "error" else binding.status
    place = spec.factory.place if isinstance(spec.factory, Factory) and spec.factory.place is not None else spec.place
    where = f"{place.path}:{place.line}"
    name = spec.factory.qualname or spec.factory.text if isinstance(spec.factory, Factory) else "?"
    return where if name.endswith("<lambda>") else f"{name}, {where}"


def _matrix(result: Binding) -> tuple[Sequence[str], list[Sequence[str]]]:
    ops = sorted({slot.slot.op_name or "?" for model in result.models for slot in model.slots})
    return ("model", *ops), [(model.file.name, *(_cell(model, op) for op in ops)) for model in result.models]


def _cell(model: ModelBinding, op: str) -> str:
    """Implementations of an op in one model; variants are named where they get different ones."""
    found: dict[str, list[str]] = {}
    for binding in model.slots:
        if (binding.slot.op_name or "?") == op:
            found.setdefault(_short(binding), []).append(binding.slot.variant or "?")
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{'/'.join(variants)}: {text}" for text, variants in found.items())


def _short(binding: SlotBinding) -> str:
    if binding.status == "bound":
        return binding.requested or "?"
    return f"{binding.requested} FAILS" if binding.status == "error" else binding.status


def _closing(result: Binding) -> str:
    counts = {"bound": 0, "eager": 0, "error": 0, "unknown": 0}
    for model in result.models:
        for slot in model.slots:
            counts[slot.status] += 1
    for patch in result.patches:
        counts[patch.status] += 1
    names = {model.file.name for model in result.models} | {patch.patches.model for patch in result.patches}
    models = len(names)
    words = [f"{counts['bound']} bound", f"{counts['eager']} eager", f"{counts['error']} cannot be bound"]
    words += [f"{counts['unknown']} not known"] * bool(counts["unknown"])
    counted = f"{models} model{'s' * (models != 1)} on {result.device}, with {_configuration(result)}"
    return f"{counted}: {', '.join(words)}.\n{_way_out(result, names) if counts['error'] and models > 1 else ''}"


def _way_out(result: Binding, names: set[str]) -> str:
    """How to leave out models that a job file is not meant for."""
    if result.config is None:
        return ""
    if not result.named:
        return "A job builds one model: `--model NAME` binds one model.\n"
    which = result.named if result.named in names else "NAME"
    return (
        f"{result.config} is for {result.named}, so what other models do with it does not matter: "
        f"`--model {which}` binds one model.\n"
    )
