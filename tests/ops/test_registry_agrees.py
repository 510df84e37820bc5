"""What opslint says of the reference package without running it, against what it is when it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("veomni_opslint.rules", reason="opslint is not installed here")

from veomni.arguments import OpsImplementationConfig
from veomni.ops import KERNEL_REGISTRY
from veomni.ops.config import list_ops

ROOT = Path(__file__).parents[2]
README = ROOT / "veomni" / "ops" / "README.md"
BEGIN, END = "<!-- opslint registry: begin -->\n", "<!-- opslint registry: end -->\n"


def opslint(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "veomni_opslint", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def static() -> dict[str, Any]:
    return json.loads(opslint("registry", "veomni", "--format", "json"))


def test_kernel_specs(static: dict[str, Any]) -> None:
    """Every kernel spec, with its hardware and the place of its factory, and nothing unresolved."""
    running = [
        {
            "op_name": spec.op_name,
            "variant": spec.variant,
            "name": spec.name,
            "device_type": spec.hardware.device_type,
            "min_compute_capability": spec.hardware.min_compute_capability,
            "max_compute_capability": spec.hardware.max_compute_capability,
            "description": spec.description,
            "factory_file": Path(spec.factory.__code__.co_filename).relative_to(ROOT).as_posix(),
            "factory_line": spec.factory.__code__.co_firstlineno,
        }
        for spec in KERNEL_REGISTRY.specs()
    ]
    key = ("op_name", "variant", "name")
    known = [{name: spec[name] for name in running[0]} for spec in static["kernel_specs"]]
    assert sorted(known, key=lambda x: [x[k] for k in key]) == sorted(running, key=lambda x: [x[k] for k in key])
    assert static["unresolved"] == []


def test_op_specs(static: dict[str, Any]) -> None:
    """Every op of the legacy registry with its backends."""
    running = {
        op.name: (op.config_field, op.default, op.global_slot, {name: b.entry for name, b in op.backends.items()})
        for op in list_ops()
    }
    known = {
        op["name"]: (
            op["config_field"], op["default"], op["global_slot"], {n: b["entry"] for n, b in op["backends"].items()}
        )
        for op in static["op_specs"]
    }  # fmt: skip
    assert known == running


def test_config_fields(static: dict[str, Any]) -> None:
    """Every field of the configuration with its default."""
    fields = {name: item.default for name, item in OpsImplementationConfig.__dataclass_fields__.items()}
    assert {field["name"]: field["default"] for field in static["config_fields"]} == fields


def test_the_readme_has_the_table() -> None:
    """The table in the README of the ops is what opslint prints; OPSLINT_UPDATE_GOLDEN=1 writes it anew."""
    table = opslint("registry", "veomni", "--format", "markdown")
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    expected = f"{before}{BEGIN}{table}{END}{after}"
    if os.environ.get("OPSLINT_UPDATE_GOLDEN"):
        README.write_text(expected, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == expected
