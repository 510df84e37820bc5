"""OPS401: device patches, and calls of the machinery for them, beyond the models that may have one."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, create, plant, swap
from evaluation.mutations.tree_places import AUTO, LLAMA_GPU, LLAMA_INIT, MODELS, OPS_INIT, QWEN3_INIT, RMS_NORM

PATCH = """
from ....ops.config.registry import apply_per_model_patches


def apply_veomni_device_patch(module):
    apply_per_model_patches(hf_module=module, model_name="Model", targets={"rms_norm": "RMSNorm"})
"""
MARKED = """
from ....ops.config.registry import apply_per_model_patches  # OPS401:a


def apply_veomni_device_patch(module):  # OPS401:a
    apply_per_model_patches(module, "Model", {"rms_norm": "RMSNorm"})  # OPS401:a
"""
EMPTY = """
def apply_veomni_device_patch(module):  # OPS401:a
    module.RMSNorm.forward = module.fast_forward
"""


def _file(name: str, path: str, text: str = MARKED) -> Mutation:
    """Add a device patch; any line of it that has to do with patching is a right place, and so is its first line."""
    lines = text.strip("\n").split("\n")
    first = lines[0] if "OPS401" in lines[0] else f"{lines[0]}  # OPS401:a"
    return plant("OPS401", name, create(path, "\n".join([first, *lines[1:]])))


def _call(name: str, path: str, code: str) -> Mutation:
    """Add a caller to an existing module."""
    return plant("OPS401", name, append(path, code))


IMPORT = "from veomni.ops.config.registry import apply_per_model_patches"
CALL = 'apply_per_model_patches(module, "Model", {"rms_norm": "RMSNorm"})'

MUTATIONS = (
    _file("fourth device patch", MODELS + "qwen3/device_patch.py"),
    _file("device patch of another model", MODELS + "llama/device_patch.py"),
    _file("device patch without the machinery", MODELS + "qwen3_moe/device_patch.py", EMPTY),
    _file("device patch of an allowed model's neighbour", MODELS + "deepseek_v2/device_patch.py"),
    _file(
        "device patch below the generated files",
        MODELS + "deepseek_v3/generated/device_patch.py",
        MARKED.replace("from ....ops", "from .....ops"),
    ),
    _file("device patch as a package", MODELS + "gemma3/device_patch/__init__.py", EMPTY),
    _file("device patch beside the models", "veomni/models/device_patch.py", EMPTY),
    _file("device patch of a diffusion model", "veomni/models/diffusers/wan_t2v/device_patch.py", EMPTY),
    _file("device patch of the ops", "veomni/ops/device_patch.py", EMPTY),
    _call("call in a model package", QWEN3_INIT, f"def patch(module):\n    {IMPORT}\n\n    {CALL}  # OPS401"),
    _call("call where models are built", AUTO, f"def patch(module):\n    {IMPORT}\n\n    {CALL}  # OPS401"),
    _call(
        "call by module",
        AUTO,
        f"def patch(module):\n    from ..ops.config import registry\n\n    registry.{CALL}  # OPS401",
    ),
    _call(
        "call under another name",
        LLAMA_INIT,
        f"def patch(module):\n    {IMPORT} as apply\n\n    apply(module, 'Llama', {{}})  # OPS401",
    ),
    _call(
        "call through the config package",
        LLAMA_INIT,
        f"from ....ops.config import apply_per_model_patches\n\n\ndef patch(module):\n    {CALL}  # OPS401",
    ),
    _call(
        "call of the full name",
        LLAMA_INIT,
        "import veomni.ops.config.registry\n\n\ndef patch(module):\n    veomni.ops.config.registry."
        + CALL
        + "  # OPS401",
    ),
    _call(
        "call at import",
        LLAMA_GPU,
        f"import sys\n\n{IMPORT}\n\nmodule = sys.modules[__name__]\n{CALL}  # OPS401, OPS406",
    ),
    _call(
        "call in a method",
        AUTO,
        f"class Patcher:\n    def run(self, module):\n        {IMPORT}\n\n        {CALL}  # OPS401",
    ),
    _call(
        "call in the ops package",
        OPS_INIT,
        f"def patch(module):\n    from .config.registry import apply_per_model_patches\n\n    {CALL}  # OPS401",
    ),
    _call(
        "call in a kernel package",
        RMS_NORM,
        f"from ...config.registry import apply_per_model_patches\n\n\ndef patch(module):\n    {CALL}  # OPS401",
    ),
    _call(
        "bound with partial",
        AUTO,
        f"from functools import partial\n\n{IMPORT}\n\n"
        f"patch = partial(apply_per_model_patches, model_name='Model')  # OPS401",
    ),
    _call("kept under another name", AUTO, f"{IMPORT}\n\npatch = apply_per_model_patches  # OPS401"),
    _call("in a lambda", AUTO, f"{IMPORT}\n\npatch = lambda module: {CALL}  # OPS401"),
    plant(
        "OPS401",
        "new file of another name",
        create(
            MODELS + "qwen2/npu_device_patches.py", PATCH.replace('"RMSNorm"})', '"RMSNorm"})  # OPS401').lstrip("\n")
        ),
    ),
    plant("OPS401", "harmless: third allowed model", create(MODELS + "deepseek_v4/device_patch.py", PATCH)),
    plant(
        "OPS401",
        "harmless: re-export",
        swap(
            OPS_INIT,
            "from .config.registry import apply_global_ops",
            "from .config.registry import apply_global_ops, apply_per_model_patches",
        ),
    ),
    _call(
        "harmless: function of that name elsewhere",
        AUTO,
        "class Patcher:\n    def apply_per_model_patches(self):\n        return 0\n\n\ndef patch():\n"
        "    return Patcher().apply_per_model_patches()",
    ),
    _call("harmless: only a text", AUTO, 'HINT = "call apply_per_model_patches from device_patch.py"'),
    plant(
        "OPS401",
        "harmless: other patch file",
        create(MODELS + "qwen3/device_patches_notes.py", "NAMES = ('device_patch',)"),
    ),
)
