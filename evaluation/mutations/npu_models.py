"""OPS201: NPU code reached from model packages, generated modules and patch configs."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, plant, swap
from evaluation.mutations.tree_places import (
    LLAMA_CONFIG,
    LLAMA_GPU,
    LLAMA_INIT,
    OMNI_INIT,
    QWEN3_CONFIG,
    QWEN3_GPU,
    WAN_MODELING,
)

WAN_PATCH = "veomni/models/transformers/wan/device_patch.py"
LORA = "veomni/lora/ops/__init__.py"
OMNI_GUARD = "    if IS_NPU_AVAILABLE:\n        from .generated.patched_modeling_qwen3_omni_moe_npu import ("
OMNI_IMPORT = "from .generated.patched_modeling_qwen3_omni_moe_npu import Qwen3OmniMoeThinkerTextModel"


def _omni(name: str, condition: str) -> Mutation:
    """Put another condition before the import of a generated module that loads ``torch_npu``."""
    opened = f"    {condition}\n        from .generated.patched_modeling_qwen3_omni_moe_npu import (  # OPS201~"
    return plant("OPS201", name, swap(OMNI_INIT, OMNI_GUARD, opened))


MUTATIONS = (
    _omni("generated NPU module on the GPU branch", "if not IS_NPU_AVAILABLE:"),
    _omni("generated NPU module on every device", "if architecture:"),
    _omni("generated NPU module where CUDA is", "if torch.cuda.is_available():  # OPS205"),
    plant(
        "OPS201", "generated NPU module at import of the model", append(OMNI_INIT, f"{OMNI_IMPORT}  # OPS201, OPS101?")
    ),
    plant(
        "OPS201",
        "generated NPU module of another model",
        swap(
            LLAMA_INIT,
            "    from .generated.patched_modeling_llama_gpu import (",
            "    from ..qwen3_omni_moe.generated.patched_modeling_qwen3_omni_moe_npu import npu_rms_norm  # OPS201\n"
            "    from .generated.patched_modeling_llama_gpu import (",
        ),
    ),
    plant(
        "OPS201",
        "import in a generated GPU module",
        swap(
            LLAMA_GPU,
            "\nveomni_rms_norm = ",
            "\nfrom torch_npu import npu_rms_norm  # OPS201, OPS101?\nveomni_rms_norm = ",
        ),
    ),
    plant(
        "OPS201",
        "import in a method of a generated GPU module",
        swap(
            QWEN3_GPU,
            "        if veomni_rms_norm.use_non_eager_impl:\n",
            "        import torch_npu  # OPS201\n\n        if veomni_rms_norm.use_non_eager_impl:\n",
        ),
    ),
    plant(
        "OPS201",
        "import in a patched method of a GPU config",
        swap(
            QWEN3_CONFIG,
            "    if veomni_rms_norm.use_non_eager_impl:\n",
            "    import torch_npu  # OPS201\n\n    if veomni_rms_norm.use_non_eager_impl:\n",
        ),
    ),
    plant(
        "OPS201",
        "import in a block of a GPU config",
        swap(
            LLAMA_CONFIG,
            "    veomni_rms_norm = OpSlot(",
            "    import torch_npu  # OPS201, OPS101?\n    veomni_rms_norm = OpSlot(",
        ),
    ),
    plant(
        "OPS201",
        "NPU patch at import of a device patch",
        after(
            WAN_PATCH,
            "from ....ops.config.registry import",
            "from .npu_patch import rms_norm_forward_npu  # OPS201, OPS101?",
        ),
    ),
    plant(
        "OPS201",
        "NPU patch in the function of a device patch",
        after(
            WAN_PATCH,
            "    from . import modeling_wan",
            "from .npu_patch import rms_norm_forward_npu  # OPS201",
            indent=4,
        ),
    ),
    plant(
        "OPS201",
        "NPU patch at import of a model",
        append(WAN_MODELING, "from .npu_patch import rope_apply_fused  # OPS201, OPS101?"),
    ),
    plant(
        "OPS201", "NPU kernels of another package", append(LORA, "from .npu_moe_group_gemm import torch_npu  # OPS201")
    ),
    plant(
        "OPS201",
        "harmless: condition compared with True",
        swap(OMNI_INIT, OMNI_GUARD, OMNI_GUARD.replace("if IS_NPU_AVAILABLE:", "if IS_NPU_AVAILABLE is True:")),
    ),
)
