"""Everything that wants a GPU, in one command: the tests, the resolution of every kernel, and the measurements.

    python -m benchmarks.on_gpu --output docs/kernel_benchmarks.md

Run from the root of the repository, in an environment with torch, triton, numpy, pytest, PyYAML and libcst; what else
is installed (liger-kernel, fla-core, quack-kernels, flash-attn-4) is tested, resolved and measured too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from benchmarks import kernels
from veomni.ops import KERNEL_REGISTRY
from veomni.ops.kernel_registry import KernelUnavailableError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all three and write the report; 1 if a test fails or a kernel that should resolve does not, 2 without GPU."""
    parser = argparse.ArgumentParser(description="Test, resolve and measure the kernels of veomni on a GPU.")
    parser.add_argument("--output", type=Path, required=True, help="write the report as Markdown to this file")
    parser.add_argument("--skip-tests", action="store_true", help="resolve and measure only")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("error: this needs a GPU", file=sys.stderr)
        return 2
    tests = "not run" if options.skip_tests else _run_tests()
    print(f"tests: {tests}", flush=True)
    rows = list(resolve())
    print("\n".join(rows), flush=True)
    # The measurements last: they take longest, and write the file that the rest is added to.
    kernels.main(["--output", str(options.output)])
    report = options.output.read_text(encoding="utf-8")
    head = "\n## Kernels resolved on this machine\n\n| op/variant | implementation | outcome |\n|---|---|---|\n"
    options.output.write_text(
        f"{report}\nTests on this machine: {tests}.\n{head}" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    return int("failed" in tests or "error" in tests or any("crashed" in row for row in rows))


def resolve() -> Iterator[str]:
    """One row of a table for each kernel: resolved, or why not."""
    for spec in KERNEL_REGISTRY.specs():
        try:
            kernel = KERNEL_REGISTRY.resolve(spec.op_name, spec.variant, spec.name)
            outcome = "resolved" if callable(kernel) else "crashed: no kernel"
        except KernelUnavailableError as error:
            outcome = str(error)
        except ImportError as error:
            outcome = f"not installed: {error}"
        except Exception as error:  # noqa: BLE001  a package may fail in any way, and the others are still tried
            outcome = f"crashed: {type(error).__name__}: {error}"
        yield f"| {spec.op_name}/{spec.variant} | {spec.name} | {' '.join(outcome.split())} |"


def _run_tests() -> str:
    """The last line of pytest, such as ``400 passed in 90s``."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/ops"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout[-20_000:])
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else f"error: pytest ended with {done.returncode}"


if __name__ == "__main__":
    sys.exit(main())
