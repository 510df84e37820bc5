"""OPS309, OPS310 and OPS312: slots that are never found, never configured, or overwritten."""

from __future__ import annotations

import re

from evaluation.mutations.draft import Edit, Mutation, append, mark, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    ARGUMENTS,
    DEEPSEEK_V4_CONFIG,
    DEEPSEEK_V4_GPU,
    LIGER,
    LLAMA_CONFIG,
    LLAMA_GPU,
    LOAD_BALANCING,
    MODELS,
    QWEN3_CONFIG,
    QWEN3_GPU,
    QWEN3_NPU,
    RMS_NORM,
    ROTARY,
    SWIGLU,
    WAN_MODELING,
)

NORM = 'veomni_rms_norm = OpSlot("rms_norm", "standard")'
SLOT = 'OpSlot("rms_norm", "standard")'
INDEXER = 'veomni_dsa_indexer_implementation = OpsConfigSlot("dsa_indexer_implementation")'
FIELD = '    mhc_implementation: Literal["eager", "tilelang"] = field('


def _hidden(name: str, code: str) -> Mutation:
    """Add *code*, in which a slot is no module attribute, to a generated file."""
    return plant("OPS309", name, append(QWEN3_GPU, re.sub(r"\bSLOT\b", SLOT, code)))


def _again(name: str, new: str, path: str = QWEN3_GPU, *more: Edit) -> Mutation:
    """Put *new* in place of the declaration of the norm's slot; either assignment is a right place."""
    return plant("OPS312", name, swap(path, NORM, new), *more)


def _config_slot(name: str, new: str, path: str = DEEPSEEK_V4_GPU) -> Mutation:
    """Put *new* in place of a config slot."""
    return plant("OPS310", name, swap(path, INDEXER, new))


HIDDEN = (
    _hidden("in a function", "def norm():\n    slot = SLOT  # OPS309\n    return slot"),
    _hidden("in a method", "class Norm:\n    def __init__(self):\n        self.slot = SLOT  # OPS309"),
    _hidden("in a class body", "class Norm:\n    slot = SLOT  # OPS309"),
    _hidden("in a list", "SLOTS = [SLOT]  # OPS309"),
    _hidden("in a tuple", "SLOTS = (SLOT, None)  # OPS309"),
    _hidden("in a dictionary", 'SLOTS = {"norm": SLOT}  # OPS309'),
    _hidden("in a comprehension", "SLOTS = [SLOT for _ in range(2)]  # OPS309"),
    _hidden("as a default argument", "def norm(slot=SLOT):  # OPS309\n    return slot"),
    _hidden("as an argument", "print(SLOT)  # OPS309"),
    _hidden("under a key", 'SLOTS = {}\nSLOTS["norm"] = SLOT  # OPS309'),
    _hidden("as an attribute of a class", "Qwen3RMSNorm.slot = SLOT  # OPS309"),
    _hidden("returned by a function", "def norm():\n    return SLOT  # OPS309"),
    _hidden("in a lambda", "norm = lambda: SLOT  # OPS309"),
    _hidden("not bound at all", "SLOT  # OPS309"),
    _hidden("used at once", "ready = SLOT.use_non_eager_impl  # OPS309"),
    _hidden(
        "in a function of a function",
        "def outer():\n    def inner():\n        return SLOT  # OPS309\n\n    return inner",
    ),
    plant(
        "OPS309",
        "in a class of a hand-written model",
        append(WAN_MODELING, f"from ....ops.dispatch import OpSlot\n\n\nclass Norm:\n    slot = {SLOT}  # OPS309"),
    ),
    plant(
        "OPS309",
        "in a class of a block",
        swap(QWEN3_CONFIG, f"    {NORM}", f"    {NORM}\n    class Slots:\n        norm = {SLOT}  # OPS309"),
    ),
    plant(
        "OPS309",
        "in a patched method",
        swap(
            QWEN3_CONFIG,
            "    if veomni_rms_norm.use_non_eager_impl:\n",
            f"    slot = {SLOT}  # OPS309\n    if veomni_rms_norm.use_non_eager_impl:\n",
        ),
    ),
    plant(
        "OPS309",
        "config slot in a function",
        append(DEEPSEEK_V4_GPU, 'def indexer():\n    return OpsConfigSlot("dsa_indexer_implementation")  # OPS309'),
    ),
    plant(
        "OPS309",
        "config slot in a class body",
        append(DEEPSEEK_V4_GPU, 'class Settings:\n    indexer = OpsConfigSlot("dsa_indexer_implementation")  # OPS309'),
    ),
    _hidden("harmless: under a condition", "if torch.__version__ > '2':\n    veomni_more = SLOT"),
    _hidden("harmless: in try", "try:\n    veomni_more = SLOT\nexcept ImportError:\n    pass"),
    _hidden("harmless: annotated", "veomni_more: OpSlot = SLOT"),
    _hidden("harmless: two names", "veomni_more = veomni_most = SLOT"),
    _hidden("harmless: pair of slots", "veomni_more, veomni_most = SLOT, SLOT"),
    _hidden("harmless: assignment expression", "if (veomni_more := SLOT) is not None:\n    pass"),
    _hidden("harmless: globals", "globals()['veomni_more'] = SLOT"),
)

UNCONFIGURED = (
    _config_slot(
        "field misspelt", 'veomni_dsa_indexer_implementation = OpsConfigSlot("dsa_indexer_implementatoin")  # OPS310'
    ),
    _config_slot(
        "field without its ending", 'veomni_dsa_indexer_implementation = OpsConfigSlot("dsa_indexer")  # OPS310'
    ),
    _config_slot(
        "field by keyword",
        'veomni_dsa_indexer_implementation = OpsConfigSlot(field_name="dsa_index_implementation")  # OPS310',
    ),
    _config_slot(
        "field with a default",
        'veomni_dsa_indexer_implementation = OpsConfigSlot("indexer_implementation", "eager")  # OPS310',
    ),
    _config_slot(
        "field in a constant",
        '_FIELD = "dsa_implementation"\nveomni_dsa_indexer_implementation = OpsConfigSlot(_FIELD)  # OPS310',
    ),
    _config_slot("empty field", 'veomni_dsa_indexer_implementation = OpsConfigSlot("")  # OPS310'),
    plant(
        "OPS310",
        "field misspelt in a block",
        swap(
            DEEPSEEK_V4_CONFIG,
            "    " + INDEXER,
            '    veomni_dsa_indexer_implementation = OpsConfigSlot("dsa_indexr_implementation")  # OPS310',
        ),
    ),
    plant(
        "OPS310",
        "field misspelt in a patch config",
        swap(
            DEEPSEEK_V4_CONFIG,
            "\n" + INDEXER,
            '\nveomni_dsa_indexer_implementation = OpsConfigSlot("dsa_indexr_implementation")  # OPS310',
        ),
    ),
    plant(
        "OPS310",
        "field of an op spec misspelt",
        swap(SWIGLU, 'config_field="swiglu_mlp_implementation",', 'config_field="swiglu_implementation",  # OPS310'),
    ),
    plant(
        "OPS310",
        "field of another op spec misspelt",
        swap(RMS_NORM, 'config_field="rms_norm_implementation",', 'config_field="rmsnorm_implementation",  # OPS310'),
    ),
    plant(
        "OPS310",
        "field of a global op spec misspelt",
        swap(
            LOAD_BALANCING,
            'config_field="load_balancing_loss_implementation",',
            'config_field="load_balancing_implementation",  # OPS310',
        ),
    ),
    plant(
        "OPS310",
        "field in another case",
        swap(
            ROTARY,
            'config_field="rotary_pos_emb_implementation",',
            'config_field="Rotary_pos_emb_implementation",  # OPS310',
        ),
    ),
    plant(
        "OPS310",
        "field of a config slot removed",
        swap(
            ARGUMENTS,
            '    dsa_indexer_implementation: Literal["eager", "cudnn", "tilelang"] = field(',
            '    dsa_index_implementation: Literal["eager", "cudnn", "tilelang"] = field(',
        ),
        mark_all(MODELS, r'OpsConfigSlot\("dsa_indexer_implementation"\)', "OPS310"),
    ),
    plant(
        "OPS310",
        "field of an op renamed",
        swap(ARGUMENTS, FIELD, FIELD.replace("mhc_", "hyper_connection_")),
        mark_all(MODELS, r'OpSlot\("mhc", ', "OPS310?, OPS310:a"),
        mark_all("veomni/ops/kernels/mhc/__init__.py", r"KERNEL_REGISTRY\.register\(", "OPS310~?, OPS310~:a"),
    ),
    plant(
        "OPS310",
        "new op without a field",
        append(
            LIGER,
            "KERNEL_REGISTRY.register(  # OPS310~:a\n"
            '    KernelSpec("liger_kernel", "layer_norm", "standard", lambda: max, HardwareRequirement("gpu"))\n)',
        ),
        append(LLAMA_GPU, 'veomni_layer_norm = OpSlot("layer_norm", "standard")  # OPS310:a'),
    ),
    plant(
        "OPS310",
        "harmless: field of the same class",
        swap(DEEPSEEK_V4_GPU, INDEXER, 'veomni_dsa_indexer_implementation = OpsConfigSlot("mhc_implementation")'),
    ),
    plant(
        "OPS310",
        "harmless: new op with its field",
        swap(ARGUMENTS, FIELD, '    layer_norm_implementation: str = field(default="eager")\n' + FIELD),
        append(
            LIGER,
            "KERNEL_REGISTRY.register(\n"
            '    KernelSpec("liger_kernel", "layer_norm", "standard", lambda: max, HardwareRequirement("gpu"))\n)',
        ),
        append(LLAMA_GPU, 'veomni_layer_norm = OpSlot("layer_norm", "standard")'),
    ),
    plant(
        "OPS310",
        "harmless: field of a base class",
        swap(
            ARGUMENTS,
            "@dataclass\nclass OpsImplementationConfig:\n",
            '@dataclass\nclass _MoreOps:\n    layer_norm_implementation: str = "eager"\n\n\n@dataclass\n'
            "class OpsImplementationConfig(_MoreOps):\n",
        ),
        append(
            LIGER,
            "KERNEL_REGISTRY.register(\n"
            '    KernelSpec("liger_kernel", "layer_norm", "standard", lambda: max, HardwareRequirement("gpu"))\n)',
        ),
        append(LLAMA_GPU, 'veomni_layer_norm = OpSlot("layer_norm", "standard")'),
    ),
)

FIRST = f"{NORM}  # OPS312:a"

REASSIGNED = (
    _again("same slot again", f"{FIRST}\n{FIRST}"),
    _again("another slot", f'{FIRST}\nveomni_rms_norm = OpSlot("rms_norm", "qwen3_5")  # OPS312:a'),
    _again(
        "another op",
        f'{FIRST}\nveomni_rms_norm = OpSlot("swiglu_mlp", "standard")  # OPS312:a',
        QWEN3_GPU,
        mark(QWEN3_GPU, "return veomni_rms_norm(", "OPS307"),
    ),
    _again("same slot again for NPUs", f"{FIRST}\n{FIRST}", QWEN3_NPU),
    _again("same slot again in a block", f"{FIRST}\n    {FIRST}", QWEN3_CONFIG),
    _again("with an annotation", f"{FIRST}\nveomni_rms_norm: OpSlot = {SLOT}  # OPS312:a"),
    _again("with two names", f"{FIRST}\nveomni_more = veomni_rms_norm = {SLOT}  # OPS312:a"),
    _again("three times", f"{FIRST}, OPS312?\n{FIRST}, OPS312?\n{FIRST}, OPS312?"),
    _again("on one line", f"{NORM}; {FIRST}"),
    _again(
        "over several lines", f'{FIRST}\nveomni_rms_norm = OpSlot(  # OPS312~:a\n    "rms_norm",\n    "standard",\n)'
    ),
    _again("by keyword", f'{FIRST}\nveomni_rms_norm = OpSlot(op_name="rms_norm", variant="standard")  # OPS312:a'),
    _again("first under a condition", f"if torch.__version__ > '2':\n    {FIRST}\n{FIRST}"),
    plant(
        "OPS312",
        "far below",
        mark(QWEN3_GPU, NORM, "OPS312:a"),
        append(QWEN3_GPU, 'veomni_rms_norm = OpSlot("rms_norm", "qwen3_5")  # OPS312:a'),
    ),
    plant(
        "OPS312",
        "name of another slot",
        swap(LLAMA_GPU, "veomni_swiglu_mlp = OpSlot", "veomni_rms_norm = OpSlot"),
        mark_all(LLAMA_GPU, r"^veomni_rms_norm = OpSlot", "OPS312:a"),
        mark(LLAMA_GPU, "return veomni_rms_norm(", "OPS307"),
    ),
    plant(
        "OPS312",
        "name of another slot in a block",
        swap(LLAMA_CONFIG, "veomni_swiglu_mlp = OpSlot", "veomni_causal_lm_loss = OpSlot"),
        mark_all(LLAMA_CONFIG, r"^    veomni_causal_lm_loss = OpSlot", "OPS312:a"),
    ),
    plant(
        "OPS312", "config slot again", swap(DEEPSEEK_V4_GPU, INDEXER, f"{INDEXER}  # OPS312:a\n{INDEXER}  # OPS312:a")
    ),
    _again("harmless: two branches", f"if torch.__version__ > '2':\n    {NORM}\nelse:\n    {NORM}"),
    _again("harmless: another name", f"{NORM}\nveomni_more_norm = {SLOT}"),
    _again(
        "harmless: same name in a function",
        f"{NORM}\n\n\ndef clear(value):\n    veomni_rms_norm = value\n    return veomni_rms_norm",
    ),
    _again("harmless: other slots of that kind", f'{NORM}\nveomni_rms_norm_2 = OpSlot("rms_norm", "qwen3_5")'),
)

MUTATIONS = HIDDEN + UNCONFIGURED + REASSIGNED
