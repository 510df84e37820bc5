"""OPS503: async Ulysses tables that name what no kernel is registered for, or no field of the config."""

from __future__ import annotations

from evaluation.mutations.draft import mark, plant, swap
from evaluation.mutations.tree_places import ROTARY
from evaluation.mutations.wrapper_tree import COMPOUND, WRAPPERS
from evaluation.mutations.wrappers import (
    NORM_CALL,
    NORM_IMPLEMENTATIONS,
    NORM_NPU,
    NORM_UNGUARDED,
    NORM_VARIANTS,
    OFFSET_CALL,
    ROTARY_IMPLEMENTATIONS,
    ROTARY_LIGER,
    declared,
)

DEFAULTS = '_DEFAULT_VARIANTS: dict[str, str] = {\n    "rms_norm": "standard",\n    "rotary_pos_emb": "full",\n}'

MUTATIONS = (
    declared(
        "OPS503",
        "default variant misspelt",
        DEFAULTS,
        DEFAULTS.replace('"standard",', '"standrad",  # OPS503'),
        mark(COMPOUND, NORM_CALL, "OPS502?"),
    ),
    declared("OPS503", "default variant of another op", DEFAULTS, DEFAULTS.replace('"full",', '"standard",  # OPS503')),
    declared("OPS503", "default that is an implementation", DEFAULTS, DEFAULTS.replace('"full",', '"npu",  # OPS503')),
    declared("OPS503", "config field misspelt", '"rms_norm_implementation",', '"rmsnorm_implementation",  # OPS503'),
    declared(
        "OPS503", "config field without its ending", '"rotary_pos_emb_implementation",', '"rotary_pos_emb",  # OPS503'
    ),
    declared("OPS503", "config field empty", '"rotary_pos_emb_implementation",', '"",  # OPS503'),
    declared("OPS503", "config field of an older name", '"rms_norm_implementation",', '"rms_norm_impl",  # OPS503'),
    declared(
        "OPS503",
        "variant that nobody registers",
        NORM_VARIANTS,
        '    "rms_norm": frozenset({"standard", "qwen3_5", "gemma"}),  # OPS503',
    ),
    declared(
        "OPS503",
        "variant misspelt in the table",
        NORM_VARIANTS,
        '    "rms_norm": frozenset({"standard", "qwen35"}),  # OPS503',
        mark(COMPOUND, OFFSET_CALL, "OPS502"),
        mark(WRAPPERS, '    offset = 1.0 if variant == "qwen3_5" else 0.0', "OPS502?"),
        mark(WRAPPERS, '        if variant == "qwen3_5":', "OPS502?"),
    ),
    declared(
        "OPS503",
        "variant over several lines",
        NORM_VARIANTS,
        '    "rms_norm": frozenset(  # OPS503:a\n        {"standard", "qwen3_5", "fp8"}  # OPS503:a\n    ),',
    ),
    declared(
        "OPS503",
        "implementation with a builder but no kernel",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset({"eager", "liger_kernel", "npu", "triton"}),  # OPS503',
        swap(WRAPPERS, NORM_NPU, NORM_NPU + '    if impl_name == "triton":\n        return PlainNorm(offset)\n'),
    ),
    declared(
        "OPS503",
        "implementation of another op with a builder",
        ROTARY_IMPLEMENTATIONS,
        '    "rotary_pos_emb": frozenset({"eager", "liger_kernel", "npu", "quack"}),  # OPS503',
        swap(WRAPPERS, ROTARY_LIGER, ROTARY_LIGER.replace('== "liger_kernel"', 'in ("liger_kernel", "quack")')),
    ),
    plant(
        "OPS503",
        "kernel of an implementation unregistered",
        swap(
            ROTARY,
            'name="npu",\n        op_name="rotary_pos_emb",\n        variant="full"',
            'name="npu_fused",\n        op_name="rotary_pos_emb",\n        variant="full"',
        ),
        mark(WRAPPERS, ROTARY_IMPLEMENTATIONS, "OPS503"),
    ),
    plant(
        "OPS503",
        "op that is no op",
        swap(
            WRAPPERS,
            '    "rotary_pos_emb": "full",\n',
            '    "rotary_pos_emb": "full",\n    "layer_norm": "standard",  # OPS503, OPS502?\n',
        ),
    ),
    plant(
        "OPS503",
        "config field of an op that is no op",
        swap(
            WRAPPERS,
            '    "rms_norm": "rms_norm_implementation",\n',
            '    "rms_norm": "rms_norm_implementation",\n'
            '    "layer_norm": "layer_norm_implementation",  # OPS503, OPS502?\n',
        ),
    ),
    declared(
        "OPS503", "harmless: default in the table of variants", DEFAULTS, DEFAULTS.replace('"standard",', '"qwen3_5",')
    ),
    declared(
        "OPS503",
        "harmless: fewer implementations everywhere",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset({"eager", "liger_kernel"}),',
        swap(WRAPPERS, NORM_NPU, ""),
        *NORM_UNGUARDED,
    ),
)
