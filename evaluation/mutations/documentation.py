"""OPS802: documentation that names what is not there."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, create, mark, plant, swap

SELECTION = "docs/design/kernel_selection.md"
REFERENCE = "docs/usage/arguments.md"
README = "veomni/ops/README.md"
NEW = "docs/usage/new_kernels.md"
QWEN3_5 = "docs/examples/qwen3_5.md"


def _row(name: str, path: str, row: str, old: str, new: str) -> Mutation:
    """Edit the line that *row* begins, and expect the finding there."""
    return plant("OPS802", name, swap(path, old, new), mark(path, row, "OPS802"))


def _line(name: str, path: str, old: str, new: str) -> Mutation:
    return plant("OPS802", name, swap(path, old, new))


MUTATIONS = (
    _row(
        "field misspelt in a table",
        SELECTION,
        "| SwiGLU MLP | `swiglu_impl",
        "| `swiglu_mlp_implementation` | `eager`, `liger_kernel` |",
        "| `swiglu_implementation` | `eager`, `liger_kernel` |",
    ),
    _row(
        "value misspelt in a table",
        SELECTION,
        "| Gated delta rule |",
        "`eager`, `fla`, `flash_qla` (SM90)",
        "`eager`, `fla`, `flash_qlaa` (SM90)",
    ),
    _row(
        "wrong default",
        SELECTION,
        "| MoE experts | `moe",
        '`fused_npu` | `"fused_triton"` (GPU)',
        '`fused_npu` | `"fused_quack"` (GPU)',
    ),
    _row(
        "wrong default in the reference",
        REFERENCE,
        "| causal_conv1d_implementation |",
        'causal_conv1d_implementation | `str` | `"fla"`',
        'causal_conv1d_implementation | `str` | `"npu"`',
    ),
    _line(
        "path of no file",
        SELECTION,
        "`veomni/ops/kernels/cross_entropy/liger.py`",
        "`veomni/ops/kernels/cross_entropy/liger_loss.py`  # OPS802",
    ),
    _line(
        "path in braces",
        SELECTION,
        "`veomni/ops/kernels/{rms_norm,rotary,swiglu}/__init__.py`",
        "`veomni/ops/kernels/{rms_norm,rope,swiglu}/__init__.py`  # OPS802",
    ),
    _row(
        "attribute of a module",
        SELECTION,
        "`veomni.ops.kernels.load_balancing_loss._lb_loss`",
        "`veomni.ops.kernels.load_balancing_loss._load_balancing_loss`",
        "`veomni.ops.kernels.load_balancing_loss._lb_loss`",
    ),
    _row(
        "value in YAML",
        SELECTION,
        "    load_balancing_loss_implementation: tritn",
        "    load_balancing_loss_implementation: triton   # CUDA",
        "    load_balancing_loss_implementation: tritn   # CUDA",
    ),
    _line(
        "field in YAML",
        SELECTION,
        "    dsa_indexer_implementation: tilelang\n",
        "    dsa_index_implementation: tilelang  # OPS802\n",
    ),
    _row(
        "default in YAML",
        SELECTION,
        "    attn_implementation: sdpa",
        "attn_implementation: flash_attention_2    # default",
        "attn_implementation: sdpa    # default",
    ),
    _row(
        "attribute of a class",
        README,
        "`BackendSpec.require_packages`",
        "`BackendSpec.requires`.\n",
        "`BackendSpec.require_packages`.\n",
    ),
    _row(
        "value of a command",
        QWEN3_5,
        "    --model.ops_implementation.moe_implementation fused_tritn",
        "moe_implementation fused_triton",
        "moe_implementation fused_tritn",
    ),
    _row(
        "field of a command",
        QWEN3_5,
        "    --model.ops_implementation.rms_norm_gate_",
        "--model.ops_implementation.rms_norm_gated_implementation npu",
        "--model.ops_implementation.rms_norm_gate_implementation npu",
    ),
    _row(
        "value in code",
        README,
        "| `moe_implementation=fused_quak`",
        "`moe_implementation=fused_quack`",
        "`moe_implementation=fused_quak`",
    ),
    _row(
        "fallback",
        REFERENCE,
        "| `moe_implementation` | `fused_npuu`",
        "| `moe_implementation` | `fused_npu` |",
        "| `moe_implementation` | `fused_npuu` |",
    ),
    _row(
        "value that has a row",
        SELECTION,
        "| `tritton` |",
        "| `triton` | Fused Triton kernel",
        "| `tritton` | Fused Triton kernel",
    ),
    plant("OPS802", "slot", create(NEW, '# Kernels\n\nThe experts are `OpSlot("moe_expert", "standard")`.  # OPS802')),
    plant(
        "OPS802",
        "import in an example",
        create(NEW, "# Kernels\n\n```python\nfrom veomni.ops.kernels.rms_norm.npu import rms_norm  # OPS802\n```"),
    ),
    plant(
        "OPS802",
        "entry in an example",
        create(NEW, '# Kernels\n\n```python\nENTRY = "veomni.ops.kernels.rotary.npu:rotary"  # OPS802\n```'),
    ),
    _row(
        "function of a file",
        SELECTION,
        "- Dispatch: `veomni/ops/kernels/moe/__init__.py`",
        "moe/__init__.py` — `apply_veomni_fused_moe_patch()`",
        "moe/__init__.py` — `apply_fused_moe_patch()`",
    ),
    plant(
        "OPS802",
        "harmless what the reader makes",
        append(
            SELECTION,
            "## Add a kernel\n\nCreate `veomni/ops/kernels/group_norm/npu.py`, set `group_norm_implementation=triton`.",
        ),
    ),
    plant(
        "OPS802",
        "harmless what was removed",
        append(SELECTION, "`norm_implementation` was removed in favor of `rms_norm_implementation`."),
    ),
    plant(
        "OPS802",
        "harmless placeholder",
        append(
            SELECTION, "See `veomni/models/transformers/<model>/device_patch.py` and `veomni/ops/kernels/*/npu.py`."
        ),
    ),
    plant(
        "OPS802",
        "harmless other project",
        append(SELECTION, "See `transformers.models.llama.modeling_llama` and `config._attn_implementation`."),
    ),
    plant("OPS802", "harmless alias", swap(QWEN3_5, "moe_implementation fused_triton", "moe_implementation triton")),
)
