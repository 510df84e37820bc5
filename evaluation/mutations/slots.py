"""OPS301: slots that no kernel is registered for, by a fault at the slot or at the registration."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, mark, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    DEEPSEEK_V3_CONFIG,
    DEEPSEEK_V4_CONFIG,
    LIGER,
    LLAMA_CONFIG,
    LOAD_BALANCING,
    MHC,
    MODELS,
    QWEN3_CONFIG,
    QWEN3_GPU,
    QWEN3_NPU,
    ROTARY,
    WAN_MODELING,
)

NORM = 'veomni_rms_norm = OpSlot("rms_norm", "standard")'


def _norm(name: str, new: str, path: str = QWEN3_GPU) -> Mutation:
    """Put *new* in place of the declaration of the norm's slot."""
    return plant("OPS301", name, swap(path, NORM, new))


def _block(name: str, code: str) -> Mutation:
    """Add *code* to a patch config."""
    return plant("OPS301", name, append(LLAMA_CONFIG, code))


MUTATIONS = (
    _norm("variant misspelt", 'veomni_rms_norm = OpSlot("rms_norm", "standrad")  # OPS301'),
    _norm("op misspelt", 'veomni_rms_norm = OpSlot("rms_nrom", "standard")  # OPS301, OPS310?'),
    _norm(
        "variant misspelt for a helper",
        "def _slot(variant):\n    return OpSlot('rms_norm', variant)\n\n\n"
        "veomni_rms_norm = _slot('standrad')  # OPS301",
    ),
    _norm(
        "harmless helper",
        "def _slot(variant='standard'):\n    return OpSlot('rms_norm', variant)\n\n\nveomni_rms_norm = _slot()",
    ),
    _norm("variant misspelt by keyword", 'veomni_rms_norm = OpSlot(op_name="rms_norm", variant="standrad")  # OPS301'),
    _norm("keywords in the other order", 'veomni_rms_norm = OpSlot(variant="standrad", op_name="rms_norm")  # OPS301'),
    _norm("arguments swapped", 'veomni_rms_norm = OpSlot("standard", "rms_norm")  # OPS301, OPS310?'),
    _norm("implementation given as variant", 'veomni_rms_norm = OpSlot("rms_norm", "liger_kernel")  # OPS301'),
    _norm("variant of another op", 'veomni_rms_norm = OpSlot("rms_norm", "full")  # OPS301'),
    _norm("capital letter", 'veomni_rms_norm = OpSlot("rms_norm", "Standard")  # OPS301'),
    _norm("trailing space", 'veomni_rms_norm = OpSlot("rms_norm", "standard ")  # OPS301'),
    _norm("empty variant", 'veomni_rms_norm = OpSlot("rms_norm", "")  # OPS301'),
    _norm(
        "variant misspelt in the NPU file",
        'veomni_rms_norm = OpSlot("rms_norm", "standrad")  # OPS301',
        QWEN3_NPU,
    ),
    _norm("variant in two string pieces", 'veomni_rms_norm = OpSlot("rms_norm", "stand" "rad")  # OPS301'),
    _norm("variant in a constant", '_VARIANT = "standrad"\nveomni_rms_norm = OpSlot("rms_norm", _VARIANT)  # OPS301'),
    _norm("annotated assignment", 'veomni_rms_norm: OpSlot = OpSlot("rms_norm", "standrad")  # OPS301'),
    _norm("two names for one slot", 'veomni_rms_norm = veomni_norm = OpSlot("rms_norm", "standrad")  # OPS301'),
    _norm(
        "class under another name",
        'from veomni.ops.dispatch import OpSlot as Slot\nveomni_rms_norm = Slot("rms_norm", "standrad")  # OPS301',
    ),
    _norm(
        "class by its module",
        'from veomni.ops import dispatch\nveomni_rms_norm = dispatch.OpSlot("rms_norm", "standrad")  # OPS301',
    ),
    _norm(
        "class re-exported by the ops package",
        'import veomni.ops as ops\nveomni_rms_norm = ops.OpSlot("rms_norm", "standrad")  # OPS301',
    ),
    _norm(
        "under a condition",
        'if torch.__version__ > "2":\n    veomni_rms_norm = OpSlot("rms_norm", "standrad")  # OPS301\nelse:\n    '
        + NORM,
    ),
    _norm("over several lines", 'veomni_rms_norm = OpSlot(  # OPS301~\n    "rms_norm",\n    "standrad",\n)'),
    plant(
        "OPS301",
        "in a hand-written model",
        append(
            WAN_MODELING,
            'from ....ops.dispatch import OpSlot\nveomni_rms_norm = OpSlot("rms_norm", "standrad")  # OPS301',
        ),
    ),
    _norm("variant misspelt in a block", 'veomni_rms_norm = OpSlot("rms_norm", "standrad")  # OPS301', QWEN3_CONFIG),
    _norm("op misspelt in a block", 'veomni_rms_norm = OpSlot("rmsnorm", "standard")  # OPS301, OPS310?', QWEN3_CONFIG),
    _norm(
        "keyword misspelt value in a block",
        'veomni_rms_norm = OpSlot("rms_norm", variant="standard_")  # OPS301',
        QWEN3_CONFIG,
    ),
    plant(
        "OPS301",
        "config module itself",
        swap(
            DEEPSEEK_V3_CONFIG,
            '\nveomni_moe_experts_forward = OpSlot("moe_experts", "standard")',
            '\nveomni_moe_experts_forward = OpSlot("moe_experts", "deepseek")  # OPS301',
        ),
    ),
    _block(
        "block of one line",
        'config.add_post_import_block(\'veomni_more = OpSlot("rms_norm", "standrad")\')  # OPS301',
    ),
    _block(
        "block with escaped quotes and newlines",
        r'config.add_post_import_block("veomni_a = 1\nveomni_more = OpSlot(\"rms_norm\", \"standrad\")\n")  # OPS301',
    ),
    _block(
        "block in single quotes",
        """
            config.add_post_import_block('''
            from veomni.ops.dispatch import OpSlot

            veomni_more = OpSlot("rms_norm", "standrad")  # OPS301
            ''')
            """,
    ),
    _block(
        "block held in a variable",
        '''
            _SLOTS = """
            veomni_more = OpSlot("rms_norm", "standrad")  # OPS301
            """
            config.add_post_import_block(_SLOTS)
            ''',
    ),
    _block(
        "block dedented by textwrap",
        '''
            import textwrap

            config.add_post_import_block(
                textwrap.dedent(
                    """
                    veomni_more = OpSlot("rms_norm", "standrad")  # OPS301
                    """
                )
            )
            ''',
    ),
    _block(
        "block of concatenated strings",
        r"""
            config.add_post_import_block(
                "from veomni.ops.dispatch import OpSlot\n"
                'veomni_more = OpSlot("rms_norm", "standrad")\n'  # OPS301
            )
            """,
    ),
    _block(
        "block as a formatted string",
        '''
            _OP = "rms_norm"
            config.add_post_import_block(
                f"""
                veomni_more = OpSlot("{_OP}", "standrad")  # OPS301
                """
            )
            ''',
    ),
    _block(
        "block given by keyword",
        '''
            config.add_post_import_block(
                block="""
                veomni_more = OpSlot("rms_norm", "standrad")  # OPS301
                """
            )
            ''',
    ),
    plant(
        "OPS301",
        "loop entry of the registration misspelt",
        swap(MHC, '("pre", _mhc_pre', '("prec", _mhc_pre'),
        mark(MHC, '("prec", _mhc_pre', "OPS303:spec"),
        mark(MHC, "KERNEL_REGISTRY.register(", "OPS303~:spec"),
        mark_all(MODELS, r'OpSlot\("mhc", "pre"\)', "OPS301"),
    ),
    plant(
        "OPS301",
        "loop entry of the registration removed",
        swap(MHC, '    ("head", _mhc_head_tile_kernels_factory, "TileKernels DeepSeek V4 final mHC collapse"),\n', ""),
        mark_all(MODELS, r'OpSlot\("mhc", "head"\)', "OPS301"),
    ),
    plant(
        "OPS301",
        "op of the registration misspelt",
        swap(LIGER, 'op_name="swiglu_mlp",', 'op_name="swiglu",'),
        mark(LIGER, "KERNEL_REGISTRY.register(", "OPS303~, OPS310~?", nth=4),
        mark_all(MODELS, r'OpSlot\("swiglu_mlp", "standard"\)', "OPS301"),
    ),
    plant(
        "OPS301",
        "variant of the registration misspelt",
        swap(ROTARY, 'variant="partial"', 'variant="patrial"'),
        mark(ROTARY, "KERNEL_REGISTRY.register(", "OPS303~", nth=2),
        mark_all(MODELS, r'OpSlot\("rotary_pos_emb", "partial"\)', "OPS301"),
    ),
    plant(
        "OPS301",
        "registration deleted",
        swap(LOAD_BALANCING, "KERNEL_REGISTRY.register(\n    KernelSpec(", "_UNUSED = (\n    KernelSpec("),
        mark_all(MODELS, r'OpSlot\("load_balancing_loss", "standard"\)', "OPS301"),
    ),
    plant(
        "OPS301",
        "registration in a function that nobody calls",
        swap(
            LOAD_BALANCING,
            "KERNEL_REGISTRY.register(\n    KernelSpec(",
            "_register = lambda: KERNEL_REGISTRY.register(\n    KernelSpec(",
        ),
        mark_all(MODELS, r'OpSlot\("load_balancing_loss", "standard"\)', "OPS301"),
    ),
    _norm("harmless: keywords", 'veomni_rms_norm = OpSlot(variant="standard", op_name="rms_norm")'),
    _norm("harmless: constant", '_VARIANT = "standard"\nveomni_rms_norm = OpSlot("rms_norm", _VARIANT)'),
    _norm("harmless: value from outside", 'import os\nveomni_rms_norm = OpSlot("rms_norm", os.environ["V"])  # OPS390'),
    _norm("harmless: only a comment", NORM + '\n# veomni_x = OpSlot("rms_norm", "standrad")'),
    plant(
        "OPS301",
        "harmless: only a text",
        append(QWEN3_GPU, 'EXAMPLE = """\nveomni_x = OpSlot("rms_norm", "standrad")\n"""'),
    ),
    plant(
        "OPS301",
        "harmless: another class of that name",
        append(
            WAN_MODELING,
            """
            class OpSlot:
                def __init__(self, name, size):
                    self.name, self.size = name, size


            slot = OpSlot("rms_norm", "standrad")
            """,
        ),
    ),
    plant(
        "OPS301",
        "harmless: slot of a block replaced by another block",
        swap(
            DEEPSEEK_V4_CONFIG,
            '\nveomni_mhc_pre = OpSlot("mhc", "pre")',
            '\nveomni_mhc_pre = OpSlot("mhc", variant="pre")',
        ),
    ),
)
