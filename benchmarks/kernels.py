"""Measures the kernels of ``veomni`` on a GPU against eager PyTorch, torch.compile and Liger.

    python -m benchmarks.kernels --output docs/kernel_benchmarks.md
    python -m benchmarks.kernels --further --output docs/further_kernel_benchmarks.md

The first command measures the works whose speed is a goal of the project, the second those of all other kernels.

Needs torch, triton and a GPU; liger-kernel is measured where it is installed. Every rival runs in the same process on
the same inputs. ``GPU ms`` is the time that the device was busy, from the profiler; ``ms`` the median of
``triton.testing.do_bench``, which also counts waiting for the CPU. Each work says what bounds it: the rate at which
this GPU copies memory, or multiplies matrices, both measured here too; ``of limit`` is the share of it by GPU time.
"""

from __future__ import annotations

import argparse
import gc
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
import triton
from triton.testing import do_bench

from benchmarks.compute_works import COMPUTE_WORKS
from benchmarks.kernel_works import WORKS, Function, Work
from benchmarks.memory_works import MEMORY_WORKS

_REPEATS = 10


@dataclass(frozen=True)
class Result:
    """What was measured of one rival; times in ms, memory in GB above that of the inputs."""

    work: str
    direction: str
    rival: str
    gpu_ms: float
    ms: float
    share: float
    peak_gb: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table and return 0; 2 without a GPU."""
    parser = argparse.ArgumentParser(description="Measure the kernels of veomni on a GPU.")
    parser.add_argument("--only", default="", help="measure the works whose name contains this")
    parser.add_argument("--further", action="store_true", help="measure the other kernels instead")
    parser.add_argument("--output", type=Path, help="write the table as Markdown to this file too")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("error: these benchmarks need a GPU", file=sys.stderr)
        return 2
    limits = {"memory": _copy_rate(), "compute": _matmul_rate()}
    header = _header(limits, further=options.further)
    print(header)
    results: list[Result] = []
    missing: list[str] = []
    for make in (*COMPUTE_WORKS, *MEMORY_WORKS) if options.further else WORKS:
        work = make()
        if options.only in work.name:
            missing += [f"{work.name}: {rival} ({reason})" for rival, reason in work.unavailable.items()]
            for result in measure(work, limits, missing):
                results.append(result)
                print(_row(result, results), flush=True)
    text = "\n".join([header, _TABLE_HEAD, *(_row(result, results) for result in results), "", *_notes(missing)])
    if options.output is not None:
        title = "Further kernels on one GPU" if options.further else "Kernels on one GPU"
        options.output.write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    print("\n".join(_notes(missing)))
    return 0


def measure(work: Work, limits: dict[str, float], missing: list[str]) -> Iterator[Result]:
    """Run every rival forward, and forward with backward; one that fails is reported in *missing*."""
    for rival, function in work.rivals.items():
        for i, direction in enumerate(("forward", "forward+backward")):
            if not (work.backward if i else work.forward):
                continue
            torch.compiler.reset()
            gc.collect()
            torch.cuda.empty_cache()
            inputs = work.inputs()
            try:
                run = _runner(function, inputs, work.wanted, backward=i == 1)
                run()
                before = torch.cuda.memory_allocated()
                torch.cuda.reset_peak_memory_stats()
                run()
                peak = (torch.cuda.max_memory_allocated() - before) / 1e9
                ms = do_bench(run, warmup=100, rep=400, return_mode="median")
                gpu_ms = _gpu_ms(run)
            except Exception as error:  # noqa: BLE001  a rival may fail in any way, and the others are still measured
                missing.append(f"{work.name}, {direction}: {rival} ({type(error).__name__}: {str(error)[:200]})")
                continue
            share = work.least[i] / (gpu_ms * 1e-3) / limits[work.bound]
            yield Result(work.name, direction, rival, gpu_ms, ms, share, peak)


def _runner(
    function: Function, inputs: Sequence[Any], wanted: tuple[int, ...], *, backward: bool
) -> Callable[[], object]:
    leaves = [inputs[i] for i in wanted]
    if not backward:

        def forward() -> object:
            with torch.no_grad():
                return function(*inputs)

        return forward
    seeds: list[torch.Tensor] = []

    def both() -> object:
        output = function(*inputs)
        outputs = list(output) if isinstance(output, tuple) else [output]
        if not seeds:
            seeds.extend(torch.ones_like(x) if x.dim() == 0 else torch.randn_like(x) for x in outputs)
        return torch.autograd.grad(outputs, leaves, seeds)

    return both


def _gpu_ms(run: Callable[[], object]) -> float:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(_REPEATS):
            run()
        torch.cuda.synchronize()
    return float(sum(event.self_device_time_total for event in profile.key_averages())) / _REPEATS / 1e3


def _copy_rate() -> float:
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return float(2 * source.numel() / (do_bench(lambda: target.copy_(source), return_mode="median") * 1e-3))


def _matmul_rate() -> float:
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return float(2 * 8192**3 / (do_bench(lambda: a @ b, return_mode="median") * 1e-3))


_TABLE_HEAD = (
    "| work | direction | rival | GPU ms | ms | of limit | peak GB | times eager | times best rival |\n"
    "|---|---|---|---:|---:|---:|---:|---:|---:|"
)


def _row(result: Result, results: Sequence[Result]) -> str:
    same = [r for r in results if (r.work, r.direction) == (result.work, result.direction)]
    eager = next((r.gpu_ms for r in same if r.rival.startswith("eager")), None)
    best = min((r.gpu_ms for r in same if not r.rival.startswith("veomni")), default=None)
    ratios = ["" if x is None else f"{x / result.gpu_ms:.2f}" for x in (eager, best)]
    return (
        f"| {result.work} | {result.direction} | {result.rival} | {result.gpu_ms:.3f} | {result.ms:.3f} | "
        f"{result.share:.0%} | {result.peak_gb:.2f} | {ratios[0]} | {ratios[1]} |"
    )


def _header(limits: dict[str, float], *, further: bool) -> str:
    packages = ("liger-kernel", "quack-kernels", "fla-core", "tilelang")
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    command = "python -m benchmarks.kernels" + " --further" * further
    return (
        f"`{command}` on {torch.cuda.get_device_name()}, Python {platform.python_version()}, "
        f"torch {torch.__version__}, triton {triton.__version__}, {versions}; bfloat16. "
        f"Copying reaches {limits['memory'] / 1e12:.2f} TB/s and multiplying {limits['compute'] / 1e12:.0f} TFLOP/s "
        "here.\n"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _notes(missing: Sequence[str]) -> list[str]:
    return ["Not measured:", "", *(f"- {line}" for line in missing)] if missing else []


if __name__ == "__main__":
    sys.exit(main())
