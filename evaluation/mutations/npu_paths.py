"""OPS201: NPU modules reached by another path than a factory, a branch or a backend for NPUs."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, create, mark, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    GATED_DELTA,
    LIGER,
    MOE,
    OPS,
    OPS_INIT,
    RMS_NORM,
    ROTARY,
)
from evaluation.mutations.wrapper_tree import WRAPPERS

REGISTRY_IMPORT = "from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec"
LORA = "veomni/lora/ops/__init__.py"


def _hoist(name: str, path: str, statement: str, anchor: str = REGISTRY_IMPORT) -> Mutation:
    """Add an import at module level; whether OPS101 speaks of the NPU package as optional too is left open."""
    return plant("OPS201", name, after(path, anchor, f"{statement}  # OPS201, OPS101?"))


MUTATIONS = (
    _hoist("kernel hoisted out of its factory", RMS_NORM, "from .npu import standard_rms_norm_forward_npu"),
    _hoist("kernel module hoisted out of its factory", RMS_NORM, "from . import npu"),
    _hoist("star import of the kernels", ROTARY, "from .npu import *"),
    _hoist(
        "absolute import of the kernels", ROTARY, "from veomni.ops.kernels.rotary.npu import apply_rotary_pos_emb_npu"
    ),
    _hoist("kernel module by its full name", ROTARY, "import veomni.ops.kernels.rotary.npu"),
    _hoist("adapter hoisted out of its factory", MOE, "from .npu_group_gemm import npu_fused_moe_forward"),
    _hoist("class hoisted out of its factory", GATED_DELTA, "from .npu_rms_norm_gated import NPUFusedRMSNormGated"),
    _hoist(
        "kernel two modules away",
        GATED_DELTA,
        "from .npu_ascendc_gated_delta_rule import chunk_gated_delta_rule as _ascendc",
    ),
    _hoist(
        "kernel two packages away",
        OPS_INIT,
        "from .kernels.moe.npu_group_gemm import npu_fused_moe_forward",
        "from .kernels.moe import",
    ),
    _hoist(
        "kernel under the name of the package", RMS_NORM, "from ..rms_norm.npu import rms_norm_forward_npu as _forward"
    ),
    plant(
        "OPS201",
        "kernel module loaded by name",
        after(
            RMS_NORM,
            REGISTRY_IMPORT,
            'import importlib\n\n_npu = importlib.import_module("veomni.ops.kernels.rms_norm.npu")  # OPS201, OPS101?',
        ),
    ),
    plant(
        "OPS201",
        "kernel module loaded by relative name",
        after(
            RMS_NORM,
            REGISTRY_IMPORT,
            'import importlib\n\n_npu = importlib.import_module(".npu", __package__)  # OPS201, OPS101?',
        ),
    ),
    plant(
        "OPS201",
        "factory called at import",
        append(RMS_NORM, "_KERNEL = _npu_standard_rms_norm_factory()  # OPS201:a"),
        mark(RMS_NORM, "from .npu import standard_rms_norm_forward_npu", "OPS201:a"),
    ),
    plant(
        "OPS201",
        "factory shared with a GPU kernel",
        append(
            RMS_NORM,
            """
            KERNEL_REGISTRY.register(  # OPS204~:a, OPS201~:a
                KernelSpec(
                    name="cuda",
                    op_name="rms_norm",
                    variant="standard",
                    factory=_npu_standard_rms_norm_factory,
                    hardware=HardwareRequirement(device_type="gpu"),
                )
            )
            """,
        ),
        mark(RMS_NORM, "from .npu import standard_rms_norm_forward_npu", "OPS201:a"),
    ),
    plant(
        "OPS201",
        "import in the factory of a GPU kernel",
        swap(
            LIGER,
            "    from liger_kernel.ops.swiglu import LigerSiLUMulFunction\n",
            "    import torch_npu  # OPS201:a\n    from liger_kernel.ops.swiglu import LigerSiLUMulFunction\n",
        ),
        mark(LIGER, 'hardware=HardwareRequirement(device_type="gpu"),', "OPS204:a", nth=4),
    ),
    plant(
        "OPS201",
        "import in a helper of GPU and NPU factories",
        swap(
            MOE,
            "    def adapter(self, hidden_states, top_k_index, top_k_weights):\n        return raw_forward(\n"
            "            num_experts=self.num_experts,\n            routing_weights=top_k_weights.to(",
            "    import torch_npu  # OPS201:a\n\n    def adapter(self, hidden_states, top_k_index, top_k_weights):\n"
            "        return raw_forward(\n            num_experts=self.num_experts,\n"
            "            routing_weights=top_k_weights.to(",
        ),
        mark_all(MOE, r'device_type="gpu"', "OPS204?, OPS204:a"),
    ),
    plant(
        "OPS201",
        "check removed before the pointer is bound",
        swap(
            MOE,
            "        if not is_torch_npu_available():\n            raise RuntimeError(\n"
            "                \"fused_moe_kernel='npu' requires torch_npu and an NPU device. On GPU, use 'triton' or "
            "'quack' instead.\"\n            )\n        from .npu_group_gemm import npu_fused_moe_forward\n\n"
            "        _fused_moe_forward = npu",
            "        from .npu_group_gemm import npu_fused_moe_forward  # OPS201\n\n        _fused_moe_forward = npu",
        ),
        mark(LORA, "from .npu_moe_group_gemm import", "OPS201?"),
    ),
    plant(
        "OPS201",
        "backend without its requirement",
        swap(
            RMS_NORM,
            'entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",\n                requires=("torch_npu",),',
            'entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",  # OPS201:a',
        ),
        mark(RMS_NORM, '"npu": BackendSpec(', "OPS201:a"),
    ),
    plant(
        "OPS201",
        "backend with another requirement",
        swap(
            ROTARY,
            'entry="veomni.ops.kernels.rotary.npu:apply_rotary_pos_emb_npu",\n                requires=("torch_npu",),',
            'entry="veomni.ops.kernels.rotary.npu:apply_rotary_pos_emb_npu",  # OPS201:a\n'
            '                requires=("liger_kernel",),',
        ),
        mark(ROTARY, '"npu": BackendSpec(', "OPS201:a"),
    ),
    plant(
        "OPS201",
        "new NPU module imported by a shared one",
        create(
            OPS + "kernels/swiglu/npu.py",
            """
            import torch_npu


            def swiglu_npu(x):
                return torch_npu.npu_swiglu(x)
            """,
        ),
        append(OPS + "kernels/swiglu/__init__.py", "from .npu import swiglu_npu  # OPS201, OPS101?"),
    ),
    plant(
        "OPS201",
        "wrapper built on every device",
        swap(
            WRAPPERS,
            "        if not IS_NPU_AVAILABLE:\n"
            '            raise RuntimeError("the npu wrapper of rms_norm needs an NPU")\n',
            "",
        ),
        mark(WRAPPERS, "        import torch_npu", "OPS201", nth=0),
        mark(WRAPPERS, "        import torch_npu", "OPS201", nth=1),
        mark(WRAPPERS, "        output, inverse = torch_npu.npu_rms_norm(", "OPS202?"),
        mark(WRAPPERS, "        return torch_npu.npu_rms_norm_backward(", "OPS202?"),
    ),
    plant(
        "OPS201",
        "wrapper built behind the opposite check",
        swap(WRAPPERS, "if not IS_NPU_AVAILABLE:", "if IS_NPU_AVAILABLE:", nth=1),
        mark(WRAPPERS, "        import torch_npu", "OPS201", nth=2),
        mark(WRAPPERS, "        return torch_npu.npu_rotary_mul(", "OPS202?"),
    ),
    plant(
        "OPS201",
        "harmless: lambda for an NPU",
        swap(
            RMS_NORM,
            "factory=_npu_standard_rms_norm_factory,",
            'factory=lambda: __import__("torch_npu").npu_rms_norm,',
        ),
    ),
    plant(
        "OPS201",
        "harmless: hardware by position",
        swap(
            RMS_NORM, 'hardware=HardwareRequirement(device_type="npu"),', 'hardware=HardwareRequirement("npu"),', nth=0
        ),
    ),
    plant(
        "OPS201",
        "harmless: hardware in a constant",
        after(RMS_NORM, REGISTRY_IMPORT, '_NPU = HardwareRequirement("npu")'),
        swap(RMS_NORM, 'hardware=HardwareRequirement(device_type="npu"),', "hardware=_NPU,", nth=0),
    ),
    plant(
        "OPS201",
        "harmless: helper of the NPU factory",
        swap(
            RMS_NORM,
            "    from .npu import standard_rms_norm_forward_npu\n\n    return standard_rms_norm_forward_npu",
            "    return _load_npu()\n\n\ndef _load_npu():\n    from .npu import standard_rms_norm_forward_npu\n\n"
            "    return standard_rms_norm_forward_npu",
        ),
    ),
)
