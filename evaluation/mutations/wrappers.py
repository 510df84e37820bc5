"""OPS501 and OPS502: async Ulysses tables, builders and callers that disagree."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, append, mark, plant, swap
from evaluation.mutations.wrapper_tree import COMPOUND, WRAPPERS

NORM_BUILDER = "def _build_norm(variant: str, impl_name: str) -> Wrapper:"
ROTARY_BUILDER = "def _build_rotary(variant: str, impl_name: str) -> Wrapper:"
NORM_IMPLEMENTATIONS = '    "rms_norm": frozenset({"eager", "liger_kernel", "npu"}),'
ROTARY_IMPLEMENTATIONS = '    "rotary_pos_emb": frozenset({"eager", "liger_kernel", "npu"}),'
NORM_VARIANTS = '    "rms_norm": frozenset({"standard", "qwen3_5"}),'
ROTARY_VARIANTS = '    "rotary_pos_emb": frozenset({"full"}),'
NORM_NPU = """    if impl_name == "npu":
        if not IS_NPU_AVAILABLE:
            raise RuntimeError("the npu wrapper of rms_norm needs an NPU")
        return AscendNorm(offset)
"""
NORM_UNGUARDED = tuple(mark(WRAPPERS, "        import torch_npu\n", "OPS201?", 0) for _ in range(2))
"""Where nothing behind a guard makes an object of the class any more, its imports are behind none."""
ROTARY_LIGER = '    if impl_name == "liger_kernel":\n        return LigerRotary()\n'
NORM_CALL = 'get_op_wrapper("rms_norm")'
ROTARY_CALL = 'get_op_wrapper(("rotary_pos_emb", "full"))'
OFFSET_CALL = 'get_op_wrapper("rms_norm", "qwen3_5")'


def _missing(name: str, *edits: Edit, table: str = NORM_IMPLEMENTATIONS, builder: str = NORM_BUILDER) -> Mutation:
    """A declared name that the builder refuses: its line in the table is a right place, and so is the builder."""
    return plant("OPS501", name, *edits, mark(WRAPPERS, table, "OPS501:a"), mark(WRAPPERS, builder, "OPS501:a"))


def declared(rule: str, name: str, old: str, new: str, *more: Edit) -> Mutation:
    """Declare something else in a table."""
    return plant(rule, name, swap(WRAPPERS, old, new), *more)


def _asked(name: str, old: str, new: str) -> Mutation:
    """Ask for another wrapper."""
    return plant("OPS502", name, swap(COMPOUND, old, f"{new}  # OPS502"))


MISSING = (
    _missing("branch removed", swap(WRAPPERS, NORM_NPU, ""), *NORM_UNGUARDED),
    _missing(
        "branch of another op removed",
        swap(WRAPPERS, ROTARY_LIGER, ""),
        table=ROTARY_IMPLEMENTATIONS,
        builder=ROTARY_BUILDER,
    ),
    _missing(
        "branch that always raises",
        swap(WRAPPERS, NORM_NPU, '    if impl_name == "npu":\n        raise NotImplementedError\n'),
        *NORM_UNGUARDED,
    ),
    _missing(
        "branch asks for the variant",
        swap(WRAPPERS, NORM_NPU, NORM_NPU.replace('impl_name == "npu":', 'variant == "npu":  # OPS502?')),
    ),
    _missing(
        "branch of the first implementation removed",
        swap(WRAPPERS, '    if impl_name == "eager":\n        return PlainNorm(offset)\n', ""),
    ),
    _missing(
        "implementation misspelt in the builder",
        swap(WRAPPERS, ROTARY_LIGER, ROTARY_LIGER.replace('"liger_kernel":', '"liger":  # OPS502')),
        table=ROTARY_IMPLEMENTATIONS,
        builder=ROTARY_BUILDER,
    ),
    _missing(
        "variant refused by the builder",
        swap(WRAPPERS, ROTARY_VARIANTS, '    "rotary_pos_emb": frozenset({"full", "partial"}),'),
        table='    "rotary_pos_emb": frozenset({"full", "partial"}),',
        builder=ROTARY_BUILDER,
    ),
    _missing(
        "variant refused by a new check",
        swap(
            WRAPPERS,
            f"{NORM_BUILDER}\n",
            f'{NORM_BUILDER}\n    if variant != "standard":\n        raise KeyError(variant)\n',
        ),
        table=NORM_VARIANTS,
    ),
    _missing(
        "variant not in a list of the builder",
        swap(
            WRAPPERS,
            f"{NORM_BUILDER}\n",
            f'{NORM_BUILDER}\n    if variant not in ("standard",):\n        raise KeyError(variant)\n',
        ),
        table=NORM_VARIANTS,
    ),
    _missing(
        "builder of another op",
        swap(WRAPPERS, '    "rms_norm": _build_norm,', '    "rms_norm": _build_rotary,'),
        mark(WRAPPERS, '    "rms_norm": _build_rotary,', "OPS501:a"),
        mark(WRAPPERS, '    if impl_name == "npu":', "OPS502?", nth=0),
        table=NORM_VARIANTS,
        builder=ROTARY_BUILDER,
    ),
    _missing(
        "no builder for the op",
        swap(WRAPPERS, '    "rotary_pos_emb": _build_rotary,\n', ""),
        mark(WRAPPERS, "_BUILDERS: dict[", "OPS501:a"),
        mark(WRAPPERS, ROTARY_VARIANTS, "OPS501?, OPS501:a"),
        table=ROTARY_IMPLEMENTATIONS,
        builder=ROTARY_BUILDER,
    ),
    declared(
        "OPS501",
        "implementation declared",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset({"eager", "liger_kernel", "npu", "triton"}),  # OPS501, OPS503?',
        mark(WRAPPERS, NORM_BUILDER, "OPS501?"),
    ),
    declared(
        "OPS501",
        "implementation declared for another op",
        ROTARY_IMPLEMENTATIONS,
        '    "rotary_pos_emb": frozenset({"eager", "liger_kernel", "npu", "cuda"}),  # OPS501, OPS503?',
    ),
    declared(
        "OPS501",
        "implementation declared in a list",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset(["eager", "liger_kernel", "npu", "quack"]),  # OPS501, OPS503?',
    ),
    declared(
        "OPS501",
        "implementation declared by union",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset({"eager", "liger_kernel"}) | {"npu", "quack"},  # OPS501, OPS503?',
    ),
    declared(
        "OPS501",
        "implementation misspelt in the table",
        ROTARY_IMPLEMENTATIONS,
        '    "rotary_pos_emb": frozenset({"eager", "liger", "npu"}),  # OPS501, OPS503?',
        mark(WRAPPERS, '    if impl_name == "liger_kernel":\n        return LigerRotary', "OPS502"),
    ),
    declared(
        "OPS501",
        "implementation declared over several lines",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset(  # OPS501:a, OPS503?\n        {\n            "eager",\n'
        '            "liger_kernel",\n            "npu",\n            "triton",  # OPS501:a, OPS503?\n        }\n'
        "    ),",
    ),
    declared(
        "OPS501",
        "harmless: branches as a chain",
        NORM_NPU,
        NORM_NPU.replace("    if impl_name", "    elif impl_name", 1).replace(
            "    elif", "    if False:\n        pass\n    elif", 1
        ),
    ),
    declared(
        "OPS501",
        "harmless: membership instead of equality",
        '    if impl_name == "liger_kernel":\n        return LigerRotary()',
        '    if impl_name in ("liger_kernel",):\n        return LigerRotary()',
    ),
    declared(
        "OPS501",
        "harmless: table as plain sets",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": {"eager", "liger_kernel", "npu"},',
    ),
    declared(
        "OPS501",
        "harmless: match statement",
        ROTARY_LIGER,
        '    match impl_name:\n        case "liger_kernel":\n            return LigerRotary()\n',
    ),
)

UNDECLARED = (
    declared(
        "OPS502",
        "implementation removed from the table",
        NORM_IMPLEMENTATIONS,
        '    "rms_norm": frozenset({"eager", "liger_kernel"}),',
        mark(WRAPPERS, '    if impl_name == "npu":', "OPS502", nth=0),
    ),
    declared(
        "OPS502",
        "implementation of another op removed",
        ROTARY_IMPLEMENTATIONS,
        '    "rotary_pos_emb": frozenset({"eager", "npu"}),',
        mark(WRAPPERS, '    if impl_name == "liger_kernel":', "OPS502", nth=1),
    ),
    declared(
        "OPS502",
        "branch added",
        NORM_NPU,
        NORM_NPU + '    if impl_name == "triton":  # OPS502\n        return PlainNorm(offset)\n',
    ),
    declared(
        "OPS502",
        "branch added to another builder",
        ROTARY_LIGER,
        ROTARY_LIGER + '    if impl_name == "quack":  # OPS502\n        return LigerRotary()\n',
    ),
    declared(
        "OPS502",
        "branch for two implementations",
        ROTARY_LIGER,
        ROTARY_LIGER.replace('== "liger_kernel":', 'in ("liger_kernel", "liger"):  # OPS502'),
    ),
    declared(
        "OPS502",
        "branch with or",
        ROTARY_LIGER,
        ROTARY_LIGER.replace('"liger_kernel":', '"liger_kernel" or impl_name == "liger":  # OPS502'),
    ),
    declared(
        "OPS502",
        "branch as elif",
        ROTARY_LIGER,
        ROTARY_LIGER + '    elif impl_name == "quack":  # OPS502\n        return LigerRotary()\n',
    ),
    declared(
        "OPS502",
        "variant removed from the table",
        NORM_VARIANTS,
        '    "rms_norm": frozenset({"standard"}),',
        mark(COMPOUND, OFFSET_CALL, "OPS502"),
        mark(WRAPPERS, '    offset = 1.0 if variant == "qwen3_5" else 0.0', "OPS502?"),
        mark(WRAPPERS, '        if variant == "qwen3_5":', "OPS502?"),
    ),
    declared(
        "OPS502",
        "op removed from the implementations",
        f"{NORM_IMPLEMENTATIONS}\n",
        "",
        mark(WRAPPERS, "_SUPPORTED_IMPLEMENTATIONS: dict[", "OPS502:a"),
        mark(COMPOUND, NORM_CALL, "OPS502?, OPS502:a"),
        mark(COMPOUND, OFFSET_CALL, "OPS502?, OPS502:a"),
        mark(WRAPPERS, '    "rms_norm": _build_norm,', "OPS502?, OPS502:a"),
        mark(WRAPPERS, '    if impl_name == "eager":', "OPS502?, OPS502:a", nth=0),
        mark(WRAPPERS, '    if impl_name == "liger_kernel":', "OPS502?", nth=0),
        mark(WRAPPERS, '    if impl_name == "npu":', "OPS502?", nth=0),
    ),
    _asked("unknown op asked for", NORM_CALL, 'get_op_wrapper("swiglu_mlp")'),
    _asked("op misspelt", NORM_CALL, 'get_op_wrapper("rms_nrom")'),
    _asked("unknown variant asked for", OFFSET_CALL, 'get_op_wrapper("rms_norm", "unweighted")'),
    _asked("unknown variant in a pair", ROTARY_CALL, 'get_op_wrapper(("rotary_pos_emb", "partial"))'),
    _asked("variant misspelt in a pair", ROTARY_CALL, 'get_op_wrapper(("rotary_pos_emb", "ful"))'),
    _asked("unknown variant by keyword", OFFSET_CALL, 'get_op_wrapper("rms_norm", variant="qwen35")'),
    _asked("everything by keyword", OFFSET_CALL, 'get_op_wrapper(op_name="rms_norm", variant="gemma")'),
    _asked("pair by keyword", ROTARY_CALL, 'get_op_wrapper(op_name=("rotary_pos_emb", "half"))'),
    plant(
        "OPS502",
        "asked for in a helper",
        append(
            COMPOUND,
            "def turn(x, cos, sin):\n"
            '    return get_op_wrapper("rotary_pos_emb", "vision").forward(x, cos, sin)  # OPS502',
        ),
    ),
    plant(
        "OPS502",
        "asked for by module",
        append(
            COMPOUND,
            "from . import op_wrappers\n\n\ndef turn(x, cos, sin):\n"
            '    return op_wrappers.get_op_wrapper("rotary").forward(x, cos, sin)  # OPS502',
        ),
    ),
    plant("OPS502", "harmless: default variant", swap(COMPOUND, ROTARY_CALL, 'get_op_wrapper("rotary_pos_emb")')),
    plant(
        "OPS502",
        "harmless: variant from outside",
        append(COMPOUND, "def norm(variant):\n    return get_op_wrapper('rms_norm', variant)"),
    ),
)

MUTATIONS = MISSING + UNDECLARED
