"""OPS304, OPS311 and OPS603: what the ops config offers, or falls back to, and nothing provides."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, gone, mark, plant, swap
from evaluation.mutations.tree_places import (
    ARGUMENTS,
    LIGER,
    RMS_NORM,
    ROTARY,
    SWIGLU,
)

ALLOWED = "_NPU_ALLOWED: Dict[str, frozenset] = {\n"
REQUIRED = "_NPU_REQUIRED: Dict[str, frozenset] = {\n"
FALLBACK = "_NPU_DEFAULT_FALLBACK: Dict[str, str] = {\n"
GPT_OSS = "veomni/models/transformers/gpt_oss/"


def _arguments(rule: str, name: str, old: str, new: str, *more: Edit, nth: int | None = None) -> Mutation:
    return plant(rule, name, swap(ARGUMENTS, old, new, nth), *more)


def _default(name: str, field: str, old: str, new: str, *more: Edit) -> Mutation:
    head = f"    {field}_implementation: str = field(\n        default="
    expected = "" if name.startswith("harmless") else "  # OPS304"
    return _arguments("OPS304", name, f'{head}"{old}",', f'{head}"{new}",{expected}', *more)


def _without_npu(field: str) -> tuple[Edit, Edit]:
    """The field lacks a fallback for the NPU in any case; the finding about it names the default."""
    return mark(ARGUMENTS, f"    {field}_implementation: str = field(", "OPS304?"), gone("OPS304", ARGUMENTS)


def _kernel(name: str, op: str, variant: str) -> str:
    return f'        name="{name}",\n        op_name="{op}",\n        variant="{variant}",\n'


def _backend(name: str, path: str, old: str, new: str) -> Mutation:
    return plant("OPS311", name, swap(path, old, new))


def _table(name: str, table: str, line: str) -> Mutation:
    """Add a line to one of the NPU tables."""
    return _arguments("OPS603", name, table, f"{table}    {line}\n")


UNBINDABLE = (
    _default("default misspelt", "rms_norm_gated", "fla", "flaa", *_without_npu("rms_norm_gated")),
    _default("default of another op", "causal_conv1d", "fla", "tilelang", *_without_npu("causal_conv1d")),
    _default("default for the NPU", "rotary_pos_emb", "liger_kernel", "npu"),
    _default("vision default for the NPU", "rotary_pos_emb_vision", "eager", "npu"),
    _default(
        "default that no slot has",
        "moe",
        "fused_triton",
        "fused_cutlass",
        gone("OPS304", GPT_OSS + "generated/patched_modeling_gpt_oss_gpu.py"),
        gone("OPS304", GPT_OSS + "gpt_oss_gpu_patch_gen_config.py"),
    ),
    plant(
        "OPS304",
        "kernel of the default renamed",
        swap(LIGER, _kernel("liger_kernel", "swiglu_mlp", "standard"), _kernel("liger", "swiglu_mlp", "standard")),
        swap(
            ARGUMENTS,
            '    swiglu_mlp_implementation: str = field(\n        default="liger_kernel",',
            '    swiglu_mlp_implementation: str = field(\n        default="liger_kernel",  # OPS304',
        ),
    ),
    _arguments(
        "OPS304",
        "fallback taken out",
        '    "rotary_pos_emb_implementation": "npu",\n',
        "",
        mark(ARGUMENTS, "    rotary_pos_emb_implementation: str = field(", "OPS304"),
    ),
    _arguments(
        "OPS304",
        "fallback without a kernel",
        '    "rotary_pos_emb_vision_implementation": "npu",\n',
        '    "rotary_pos_emb_vision_implementation": "npu_fused",  # OPS304?, OPS603\n',
    ),
    _arguments(
        "OPS304",
        "fallback for GPUs",
        '    "load_balancing_loss_implementation": "eager",\n',
        '    "load_balancing_loss_implementation": "triton",  # OPS304\n',
    ),
    _default("harmless eager", "rms_norm", "liger_kernel", "eager"),
    _default("harmless loss", "cross_entropy_loss", "liger_kernel", "chunk_loss"),
    _default(
        "harmless kernel of every slot",
        "moe",
        "fused_triton",
        "fused_quack",
        *(
            gone("OPS304", GPT_OSS + path)
            for path in ("generated/patched_modeling_gpt_oss_gpu.py", "gpt_oss_gpu_patch_gen_config.py")
        ),
    ),
)

LIGER_BACKEND = '            "liger_kernel": BackendSpec(\n'
NPU_BACKEND = '            "npu": BackendSpec(\n'
EAGER_BACKEND = '            "eager": BackendSpec(entry="veomni.ops:moe"),\n'
TRITON_BACKEND = '            "triton": BackendSpec(  # OPS311\n                entry="triton:x",\n            ),\n'

OFFERED = (
    _backend("backend of no kernel", SWIGLU, LIGER_BACKEND, TRITON_BACKEND + LIGER_BACKEND),
    _backend(
        "backend of no rotary kernel",
        ROTARY,
        NPU_BACKEND,
        TRITON_BACKEND + NPU_BACKEND,
    ),
    _backend("backend misspelt", RMS_NORM, NPU_BACKEND, '            "npuu": BackendSpec(  # OPS311\n'),
    _arguments(
        "OPS311",
        "choice of no kernel",
        'mhc_implementation: Literal["eager", "tilelang"] = field(',
        'mhc_implementation: Literal["eager", "tilelang", "triton"] = field(  # OPS311',
    ),
    _arguments(
        "OPS311",
        "allowed but for GPUs",
        '    "moe_implementation": frozenset({"fused_npu"}),\n',
        '    "moe_implementation": frozenset({"fused_npu", "fused_quack"}),  # OPS311\n',
        nth=0,
    ),
    _arguments(
        "OPS311",
        "allowed but misspelt",
        '    "rms_norm_implementation": frozenset({"npu"}),\n',
        '    "rms_norm_implementation": frozenset({"npu", "npuu"}),  # OPS311\n',
        nth=0,
    ),
    _arguments(
        "OPS311",
        "allowed without any kernel",
        '    "swiglu_mlp_implementation": frozenset(),\n',
        '    "swiglu_mlp_implementation": frozenset({"npu"}),  # OPS311\n',
    ),
    _arguments(
        "OPS311",
        "allowed but of no kernel",
        '    "moe_implementation": frozenset({"fused_npu"}),\n',
        '    "moe_implementation": frozenset({"fused_npu", "fused_ascendc"}),  # OPS311\n',
        nth=0,
    ),
    _backend(
        "harmless order of backends",
        ROTARY,
        LIGER_BACKEND,
        EAGER_BACKEND + LIGER_BACKEND,
    ),
    _arguments(
        "OPS311",
        "harmless order of choices",
        'mhc_implementation: Literal["eager", "tilelang"]',
        'mhc_implementation: Literal["tilelang", "eager"]',
    ),
    _arguments(
        "OPS311",
        "harmless eager allowed",
        '    "swiglu_mlp_implementation": frozenset(),\n',
        '    "swiglu_mlp_implementation": frozenset({"eager"}),\n',
    ),
)

TABLES = (
    _arguments(
        "OPS603",
        "op not allowed",
        '    "rms_norm_implementation": frozenset({"npu"}),\n',
        "",
        mark(ARGUMENTS, ALLOWED.rstrip("\n"), "OPS603~"),
        nth=0,
    ),
    _arguments(
        "OPS603",
        "loss not allowed",
        ALLOWED,
        ALLOWED.replace("{\n", "{  # OPS603~\n"),
        swap(ARGUMENTS, '    "load_balancing_loss_implementation": frozenset({"triton"}),\n', ""),
    ),
    _arguments(
        "OPS603",
        "field misspelt",
        '    "swiglu_mlp_implementation": frozenset(),\n',
        '    "swiglu_mpl_implementation": frozenset(),  # OPS603\n',
        mark(ARGUMENTS, ALLOWED.rstrip("\n"), "OPS603~"),
    ),
    _table("allowed field that is none", ALLOWED, '"layer_norm_implementation": frozenset({"npu"}),  # OPS603'),
    _table("op for a field", ALLOWED, '"rms_norm": frozenset({"npu"}),  # OPS603'),
    _table("required field that is none", REQUIRED, '"layer_norm_implementation": frozenset({"npu"}),  # OPS603'),
    _table("fallback of a field that is none", FALLBACK, '"layer_norm_implementation": "npu",  # OPS603'),
    _arguments(
        "OPS603",
        "required but not allowed",
        '    "moe_implementation": frozenset({"fused_npu"}),\n',
        '    "moe_implementation": frozenset({"fused_npu2"}),  # OPS603\n',
        nth=1,
    ),
    _arguments(
        "OPS603",
        "fallback not allowed",
        '    "swiglu_mlp_implementation": "eager",\n',
        '    "swiglu_mlp_implementation": "npu",  # OPS603\n',
    ),
    _arguments(
        "OPS603",
        "taken from the allowed ones",
        '    "moe_implementation": frozenset({"fused_npu"}),\n',
        '    "moe_implementation": frozenset(),\n',
        mark(ARGUMENTS, '    "moe_implementation": frozenset({"fused_npu"}),', "OPS603"),
        mark(ARGUMENTS, '    "moe_implementation": "fused_npu",', "OPS603"),
        nth=0,
    ),
    _table("harmless field that is not registered", ALLOWED, '"mhc_implementation": frozenset(),'),
    _table("harmless fallback to eager", FALLBACK, '"mhc_implementation": "eager",'),
    _arguments(
        "OPS603",
        "harmless order",
        '    "rotary_pos_emb_vision_implementation": "npu",\n    "swiglu_mlp_implementation": "eager",\n',
        '    "swiglu_mlp_implementation": "eager",\n    "rotary_pos_emb_vision_implementation": "npu",\n',
    ),
)

MUTATIONS = (*UNBINDABLE, *OFFERED, *TABLES)
