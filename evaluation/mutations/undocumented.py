"""OPS801: tables of the documentation that lack a field or a value."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, before, create, drop, mark, plant, swap
from evaluation.mutations.tree_places import ARGUMENTS

SELECTION = "docs/design/kernel_selection.md"
REFERENCE = "docs/usage/arguments.md"
README = "veomni/ops/README.md"
NEW = "docs/usage/new_kernels.md"

SELECTION_HEADER = "| Kernel | Config field | Available values |"
README_HEADING = "### All kernels at a glance"
REFERENCE_HEADER = "| Field | Type | Default | Description |"
MHC_FIELD = '    mhc_implementation: Literal["eager", "tilelang"] = field('


def _row(name: str, path: str, row: str, old: str, new: str) -> Mutation:
    """Edit the line that *row* begins, and expect the finding there."""
    return plant("OPS801", name, swap(path, old, new), mark(path, row, "OPS801"))


MUTATIONS = (
    plant(
        "OPS801",
        "row taken out of a table of all",
        drop(SELECTION, "| mHC | `mhc"),
        mark(SELECTION, SELECTION_HEADER, "OPS801"),
    ),
    plant(
        "OPS801",
        "row taken out of the README",
        drop(README, "| RMSNorm | `rms"),
        mark(README, README_HEADING, "OPS801"),
    ),
    plant(
        "OPS801",
        "row taken out of the reference",
        drop(REFERENCE, "| causal_conv1d_implementation |"),
        mark(REFERENCE, REFERENCE_HEADER, "OPS801", nth=2),
    ),
    _row(
        "value taken out of a row",
        SELECTION,
        "| RMSNorm | `rms",
        "| `rms_norm_implementation` | `eager`, `liger_kernel`, `npu`,",
        "| `rms_norm_implementation` | `eager`, `liger_kernel`,",
    ),
    _row(
        "value taken out of a row of the README",
        README,
        "| Fused MoE |",
        "`fused_quack` (CUTLASS/CuTe, SM90+), ",
        "",
    ),
    _row(
        "value taken out of a sentence",
        REFERENCE,
        "| rms_norm_gated_implementation |",
        "`fla` (FLA `FusedRMSNormGated`, GPU), `npu`.",
        "`fla` (FLA `FusedRMSNormGated`, GPU).",
    ),
    _row(
        "value taken out of a type",
        REFERENCE,
        "| dsa_indexer_implementation |",
        '`Literal["eager", "cudnn", "tilelang"]`',
        '`Literal["eager", "tilelang"]`',
    ),
    plant(
        "OPS801",
        "row taken out of a table of values",
        drop(SELECTION, "| `fused_quack` | Quack"),
        mark(SELECTION, "| Value | Kernel | Hardware | EP support |", "OPS801"),
    ),
    plant(
        "OPS801",
        "row taken out of the values of a heading",
        drop(SELECTION, "| `npu` | `torch_npu.npu_rotary_mul`"),
        mark(SELECTION, "| Value | Implementation | Requirements |", "OPS801", nth=2),
    ),
    plant(
        "OPS801",
        "table of a new document",
        create(
            NEW,
            """
# Kernels

| Field | Default | Values |
|---|---|---|
| `swiglu_mlp_implementation` | `liger_kernel` | `eager`, `liger_kernel` |
| `rms_norm_implementation` | `liger_kernel` | `eager`, `liger_kernel` |  # OPS801
""",
        ),
    ),
    plant(
        "OPS801",
        "new choice",
        swap(ARGUMENTS, MHC_FIELD, MHC_FIELD.replace('"tilelang"', '"tilelang", "triton"')),
        mark(REFERENCE, "| mhc_implementation |", "OPS801"),
        mark(SELECTION, "| mHC | `mhc", "OPS801"),
        mark(README, "| mHC | `mhc", "OPS801"),
    ),
    plant(
        "OPS801",
        "new field",
        before(
            ARGUMENTS,
            MHC_FIELD,
            'group_norm_implementation: Literal["eager", "triton"] = field(default="eager")',
            indent=4,
        ),
        mark(REFERENCE, REFERENCE_HEADER, "OPS801", nth=2),
        mark(SELECTION, SELECTION_HEADER, "OPS801"),
        mark(README, README_HEADING, "OPS801"),
    ),
    plant(
        "OPS801",
        "harmless other order",
        swap(
            SELECTION,
            '`eager`, `fla`, `npu` | `"fla"` (GPU) | Qwen3.5 OpSlot binding |\n| Causal',
            '`npu`, `fla`, `eager` | `"fla"` (GPU) | Qwen3.5 OpSlot binding |\n| Causal',
        ),
    ),
    plant(
        "OPS801",
        "harmless table of few fields",
        create(
            NEW,
            """
# On an NPU

| Field | NPU value |
|---|---|
| `rms_norm_implementation` | `npu` |
| `moe_implementation` | `fused_npu` |
""",
        ),
    ),
    plant(
        "OPS801",
        "harmless history",
        create(
            NEW,
            """
# Kernels

Status: historical proposal

| Field | Default | Values |
|---|---|---|
| `rms_norm_implementation` | `liger_kernel` | `eager`, `liger_kernel` |
""",
        ),
    ),
    plant(
        "OPS801",
        "harmless words",
        swap(
            SELECTION,
            "if a field is not in this table, it is not a kernel",
            "what is not in this table is not a kernel",
        ),
    ),
)
