"""OPS302 and OPS303: kernels registered twice, and kernels that nobody uses."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, create, mark, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    CROSS_ENTROPY,
    GATED_DELTA,
    KERNELS,
    LIGER,
    LOAD_BALANCING,
    MHC,
    MODELS,
    MOE,
    RMS_NORM,
    ROTARY,
)
from evaluation.mutations.wrapper_tree import WRAPPERS

FACTORY = "_triton_load_balancing_loss_factory"
GPU = 'HardwareRequirement("gpu")'


def spec_call(name: str = '"triton"', variant: str = '"standard"', op: str = '"load_balancing_loss"') -> str:
    """The text of a spec, from the texts of its arguments."""
    return f"KernelSpec({name}, {op}, {variant}, {FACTORY}, {GPU})"


SAME = spec_call()
LOOSE = spec_call(variant='"fp8"')
MORE = spec_call(name='"cutlass"')


def _twice(name: str, code: str) -> Mutation:
    """Add *code* below the registration of the load-balancing loss."""
    return plant("OPS302", name, append(LOAD_BALANCING, code))


def _unused(name: str, code: str) -> Mutation:
    """Add *code*, which registers what no slot uses, at the same place."""
    return plant("OPS303", name, append(LOAD_BALANCING, code))


TWICE = (
    _twice("same registration again", f"KERNEL_REGISTRY.register({SAME})  # OPS302"),
    _twice("same registration over several lines", f"KERNEL_REGISTRY.register(  # OPS302~\n    {SAME}\n)"),
    _twice("force denied", f"KERNEL_REGISTRY.register({SAME}, force=False)  # OPS302"),
    _twice("spec by keyword", f"KERNEL_REGISTRY.register(spec={SAME})  # OPS302"),
    _twice("spec in a variable", f"_SPEC = {SAME}\nKERNEL_REGISTRY.register(_SPEC)  # OPS302"),
    _twice(
        "new spec registered twice",
        f"_SPEC = {MORE}\nKERNEL_REGISTRY.register(_SPEC)\nKERNEL_REGISTRY.register(_SPEC)  # OPS302",
    ),
    _twice("in a loop that runs twice", f"for _ in range(2):\n    KERNEL_REGISTRY.register({MORE})  # OPS302"),
    _twice(
        "in a loop over a table",
        "for _name in ('cutlass', 'cutlass'):  # OPS302:a\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='_name')})  # OPS302:a",
    ),
    _twice(
        "by a helper",
        f"def _register(name):\n    KERNEL_REGISTRY.register({spec_call(name='name')})  # OPS302:a\n\n\n"
        "_register('cutlass')\n_register('cutlass')  # OPS302:a",
    ),
    _twice(
        "registry under another name",
        f"from ...kernel_registry import KERNEL_REGISTRY as R\n\nR.register({SAME})  # OPS302",
    ),
    _twice("method under another name", f"_register = KERNEL_REGISTRY.register\n_register({SAME})  # OPS302"),
    _twice(
        "copy with another description",
        f"from dataclasses import replace\n\n_SPEC = {MORE}\nKERNEL_REGISTRY.register(_SPEC)\n"
        "KERNEL_REGISTRY.register(replace(_SPEC, description='again'))  # OPS302",
    ),
    _twice(
        "name put together", f"""_BACK = "tri"\nKERNEL_REGISTRY.register({spec_call(name='f"{_BACK}ton"')})  # OPS302"""
    ),
    _twice(
        "on every branch", f"if torch.compiler.is_compiling():\n    _ = 1\nKERNEL_REGISTRY.register({SAME})  # OPS302"
    ),
    plant(
        "OPS302",
        "variant of another registration",
        swap(LIGER, 'variant="unweighted"', 'variant="standard"'),
        mark(LIGER, "KERNEL_REGISTRY.register(", "OPS302~", nth=1),
    ),
    plant(
        "OPS302",
        "name of another registration",
        swap(MOE, 'name="quack"', 'name="triton"', nth=0),
        mark(MOE, "KERNEL_REGISTRY.register(", "OPS302~", nth=1),
    ),
    plant(
        "OPS302",
        "two equal rows in a table",
        swap(MHC, '("post", _mhc_post', '("head", _mhc_post'),
        mark(MHC, '("head", _mhc_head', "OPS302:a"),
        mark(MHC, "KERNEL_REGISTRY.register(", "OPS302~:a"),
        mark_all(MODELS, r'OpSlot\("mhc", "post"\)', "OPS301"),
        mark_all(MODELS + "deepseek_v4", r"self\.input_norm\.eps,", "OPS307?"),
    ),
    plant(
        "OPS302",
        "two equal names in a table",
        swap(
            CROSS_ENTROPY,
            '("npu", HardwareRequirement(device_type="npu")),',
            '("chunk_loss", HardwareRequirement(device_type="npu")),  # OPS302:a',
        ),
        mark(CROSS_ENTROPY, "    KERNEL_REGISTRY.register(\n        KernelSpec(", "OPS302:a", nth=0),
        mark(CROSS_ENTROPY, "    KERNEL_REGISTRY.register(\n        KernelSpec(", "OPS302:a"),
    ),
    plant(
        "OPS302",
        "same kernel in two files",
        append(
            LIGER,
            "KERNEL_REGISTRY.register(  # OPS302~\n"
            '    KernelSpec("npu", "rms_norm", "standard", lambda: max, HardwareRequirement("npu"))\n)',
        ),
    ),
    _twice("harmless: forced", f"KERNEL_REGISTRY.register({SAME}, force=True)"),
    _twice("harmless: forced by position", f"KERNEL_REGISTRY.register({SAME}, True)"),
    _twice(
        "harmless: one of two branches",
        f"if torch.is_grad_enabled():\n    KERNEL_REGISTRY.register({MORE})\nelse:\n"
        f"    KERNEL_REGISTRY.register({MORE})",
    ),
    _twice("harmless: never run", f"def _register():\n    KERNEL_REGISTRY.register({SAME})"),
    _twice("harmless: spec not registered", f"_SPEC = {SAME}"),
    _twice("harmless: another name", f"KERNEL_REGISTRY.register({MORE})"),
    plant(
        "OPS302",
        "harmless: same name for another op",
        append(
            LIGER,
            "KERNEL_REGISTRY.register(\n"
            '    KernelSpec("npu", "swiglu_mlp", "standard", lambda: max, HardwareRequirement("npu"))\n)',
        ),
    ),
)

UNUSED = (
    _unused("new variant", f"KERNEL_REGISTRY.register({LOOSE})  # OPS303"),
    _unused("new variant over several lines", f"KERNEL_REGISTRY.register(  # OPS303~\n    {LOOSE}\n)"),
    _unused(
        "new variant from a loop",
        f"for _variant in ('fp8',):  # OPS303:a\n"
        f"    KERNEL_REGISTRY.register({spec_call(variant='_variant')})  # OPS303:a",
    ),
    _unused(
        "new variant from a helper",
        f"def _register(variant):\n    KERNEL_REGISTRY.register({spec_call(variant='variant')})  # OPS303:a\n\n\n"
        f"_register('fp8')  # OPS303:a",
    ),
    _unused(
        "new variant put together",
        f"""_BITS = 8\nKERNEL_REGISTRY.register({spec_call(variant='f"fp{_BITS}"')})  # OPS303""",
    ),
    _unused(
        "new variant of a formatted text", f"""KERNEL_REGISTRY.register({spec_call(variant='"fp%d" % 8')})  # OPS303"""
    ),
    _unused(
        "new variant in a constant",
        f"""_VARIANT = "fp8"\nKERNEL_REGISTRY.register({spec_call(variant="_VARIANT")})  # OPS303""",
    ),
    _unused(
        "new variant on one device", f"if torch.is_grad_enabled():\n    KERNEL_REGISTRY.register({LOOSE})  # OPS303"
    ),
    _unused(
        "new variant in try", f"try:\n    KERNEL_REGISTRY.register({LOOSE})  # OPS303\nexcept ValueError:\n    pass"
    ),
    _unused(
        "space at the end of the variant", f"""KERNEL_REGISTRY.register({spec_call(variant='"standard "')})  # OPS303"""
    ),
    _unused("empty variant", f"""KERNEL_REGISTRY.register({spec_call(variant='""')})  # OPS303"""),
    _unused(
        "variant and name exchanged",
        f"""KERNEL_REGISTRY.register({spec_call(variant='"cutlass"', name='"standard"')})  # OPS303""",
    ),
    plant(
        "OPS303",
        "variant misspelt beside a good one",
        swap(LIGER, 'variant="qwen3_5"', 'variant="qwen35"'),
        mark(LIGER, "KERNEL_REGISTRY.register(", "OPS303~", nth=2),
        mark(WRAPPERS, '"rms_norm": frozenset({"eager"', "OPS503?"),
    ),
    plant(
        "OPS303",
        "variant misspelt in one file of two",
        swap(RMS_NORM, 'variant="unweighted"', 'variant="unweigthed"'),
        mark(RMS_NORM, "KERNEL_REGISTRY.register(", "OPS303~", nth=1),
    ),
    plant(
        "OPS303",
        "capital letter in the variant",
        swap(GATED_DELTA, 'variant="standard"', 'variant="Standard"', nth=1),
        mark(GATED_DELTA, "KERNEL_REGISTRY.register(", "OPS303~", nth=1),
    ),
    plant(
        "OPS303",
        "op of another model",
        swap(
            ROTARY,
            'op_name="rotary_pos_emb",\n        variant="full"',
            'op_name="rotary_pos_emb_vision",\n        variant="text"',
        ),
        mark(ROTARY, "KERNEL_REGISTRY.register(", "OPS303~", nth=0),
        mark(WRAPPERS, '"rotary_pos_emb": frozenset({"eager"', "OPS503?"),
    ),
    plant(
        "OPS303",
        "last slots removed",
        *[
            swap(path, 'OpSlot("moe_experts", "gpt_oss")', 'OpSlot("moe_experts", "standard")')
            for path in (
                MODELS + "gpt_oss/gpt_oss_gpu_patch_gen_config.py",
                MODELS + "gpt_oss/generated/patched_modeling_gpt_oss_gpu.py",
            )
        ],
        mark(MOE, "KERNEL_REGISTRY.register(", "OPS303~", nth=2),
    ),
    plant(
        "OPS303",
        "new file",
        create(
            KERNELS + "swiglu/fused.py",
            """
            from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

            KERNEL_REGISTRY.register(  # OPS303~
                KernelSpec("fused", "swiglu_mlp", "gated", lambda: max, HardwareRequirement("gpu"))
            )
            """,
        ),
        append(KERNELS + "swiglu/__init__.py", "from . import fused"),
    ),
    _unused("harmless: more of a used variant", f"KERNEL_REGISTRY.register({MORE})"),
    _unused(
        "harmless: resolved by name",
        f"KERNEL_REGISTRY.register({LOOSE})\n\n\n"
        "def fp8_loss():\n"
        f"    return KERNEL_REGISTRY.resolve('load_balancing_loss', 'fp8', 'triton')",
    ),
    plant(
        "OPS303",
        "harmless: slot added too",
        append(LOAD_BALANCING, f"KERNEL_REGISTRY.register({LOOSE})"),
        append(
            MODELS + "wan/modeling_wan.py",
            'from ....ops.dispatch import OpSlot\n\nveomni_loss = OpSlot("load_balancing_loss", "fp8")',
        ),
    ),
)

MUTATIONS = TWICE + UNUSED
