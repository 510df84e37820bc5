"""``opslint runtime`` as text and Markdown: for a person, and for an issue or a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from veomni_opslint.report import Report
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.reporters.style import printable
from veomni_opslint.reporters.table import markdown_table, text_layout
from veomni_opslint.runtime.observation import KernelState, RuntimeRun
from veomni_opslint.runtime.words import (
    binding_counts,
    binding_words,
    call_words,
    counts,
    environment_rows,
    import_rows,
)

_SHOWN_FRAMES = 4
_BINDING_COLUMNS = ("model", "slot", "gets")


def render_text(run: RuntimeRun, report: Report, presentation: Presentation) -> str:
    """The machine, a table of kernels, and the findings."""
    lines: list[str] = []
    rows = [*environment_rows(run), *import_rows(run)]
    width = max(len(name) for name, _ in rows)
    lines += [f"{presentation.dim(f'{name:<{width}}')}  {printable(value)}" for name, value in rows]
    lines.append("")
    lines += _table(run.kernels, presentation)
    lines += ["", presentation.bold(counts(run)), ""]
    for kernel in run.kernels:
        lines += _trouble(kernel)
    if run.bindings:
        lines += [text_layout(presentation)(_BINDING_COLUMNS, _binding_rows(run)), f"{binding_counts(run)}.", ""]
    return "".join(f"{line}\n" for line in lines) + FORMATS["text"](report, presentation)


def render_markdown(run: RuntimeRun, report: Report) -> str:
    """The same as Markdown tables."""
    lines = ["| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in (*environment_rows(run), *import_rows(run))]
    lines += ["", "| op | variant | kernel | status | |", "|---|---|---|---|---|"]
    lines += [
        f"| {kernel.op_name} | {kernel.variant} | {kernel.name} | {kernel.status} | {_cell(_said(kernel))} |"
        for kernel in run.kernels
    ]
    lines += ["", f"{counts(run)}."]
    if run.bindings:
        lines += ["", markdown_table(_BINDING_COLUMNS, _binding_rows(run)), f"{binding_counts(run)}."]
    if report.findings:
        lines += ["", "| finding | place | |", "|---|---|---|"]
        lines += [
            f"| {finding.code} {finding.name} | {finding.place.path}:{finding.place.line} | {_cell(finding.message)} |"
            for finding in report.findings
        ]
    return "".join(f"{line}\n" for line in lines)


def _binding_rows(run: RuntimeRun) -> list[tuple[str, str, str]]:
    return [(one.model, one.var, printable(binding_words(one))) for one in run.bindings]


def _table(kernels: Sequence[KernelState], presentation: Presentation) -> Iterator[str]:
    cells = [(f"{kernel.op_name}/{kernel.variant}", kernel.name, kernel.status) for kernel in kernels]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(3)]
    for kernel, row in zip(kernels, cells, strict=True):
        slot, name, status = (printable(f"{cell:<{width}}") for cell, width in zip(row, widths, strict=True))
        said = printable(_said(kernel))
        shown = presentation.bold(status) if kernel.status not in {"ok", "gated", "missing"} else status
        yield f"{slot}  {name}  {shown}  {said}".rstrip()


def _said(kernel: KernelState) -> str:
    if kernel.call is not None:
        return call_words(kernel.call)
    return kernel.returned if kernel.status == "ok" else kernel.reason


def _trouble(kernel: KernelState) -> Iterable[str]:
    """The end of the traceback, or of what was printed, where that says what happened."""
    frames = kernel.failure.frames[-_SHOWN_FRAMES:] if kernel.failure is not None else ()
    if kernel.status == "broken" and frames:
        yield f"{kernel.title}: {printable(kernel.reason)}"
        for frame in frames:
            where = frame.place.path if frame.place is not None else frame.file
            yield f"    {printable(where)}:{frame.line} in {frame.function}: {printable(frame.text)}".rstrip(": ")
        yield ""
    elif kernel.status in {"crashed", "timeout"} and kernel.output.strip():
        yield f"{kernel.title}: {printable(kernel.reason)}; it printed last:"
        # Stacks are written with the innermost call first.
        _, stacks, innermost = kernel.output.strip().rpartition("(most recent call first):\n")
        lines = innermost.splitlines()
        shown = lines[: 2 * _SHOWN_FRAMES] if stacks else lines[-2 * _SHOWN_FRAMES :]
        yield from (f"    {printable(line)}" for line in shown)
        yield ""


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
