"""OPS406: the ops configuration is read, or one model patched, while the package is imported."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, create, mark, plant, swap
from evaluation.mutations.tree_places import (
    AUTO,
    HELPER,
    KERNELS_INIT,
    LLAMA_CONFIG,
    LLAMA_GPU,
    MODELS,
    OPS_INIT,
    RMS_NORM,
)

VEOMNI_INIT = "veomni/__init__.py"
ATTENTION = "veomni/ops/kernels/attention/__init__.py"
WAN = MODELS + "wan/device_patch.py"
LLAMA_PATCH = "from transformers.models.llama import modeling_llama"
READ = "from veomni.ops.config.singleton import get_ops_config"


def _append(name: str, path: str, code: str) -> Mutation:
    return plant("OPS406", name, append(path, code))


MUTATIONS = (
    _append("read in a kernel module", RMS_NORM, f"{READ}\n\nCONFIG = get_ops_config()  # OPS406"),
    _append(
        "read where models are built",
        AUTO,
        "from ..ops.config import singleton\n\nif singleton.get_ops_config() is not None:  # OPS406\n    FUSED = True",
    ),
    _append(
        "read in a class body",
        HELPER,
        "import veomni.ops.config\n\n\nclass Settings:\n    config = veomni.ops.config.get_ops_config()  # OPS406",
    ),
    _append(
        "read for a default", RMS_NORM, f"{READ}\n\n\ndef f(config=get_ops_config()):  # OPS406\n    return config"
    ),
    _append(
        "read by a function that import runs",
        KERNELS_INIT,
        f"def _choose():\n    {READ}\n\n    return get_ops_config().moe_implementation  # OPS406\n\n\n_choose()",
    ),
    plant(
        "OPS406",
        "read in the patch of the attention",
        after(
            ATTENTION,
            '    """Register VeOmni\'s fused-attention implementations."""',
            "from ...config.singleton import get_ops_config\n\nif get_ops_config() is None:  # OPS406\n    return\n",
            indent=4,
        ),
    ),
    _append(
        "device patch applied at import",
        WAN,
        "apply_veomni_wan_device_patch()  # OPS406",
    ),
    plant(
        "OPS406",
        "device patch applied by the package",
        swap(
            VEOMNI_INIT,
            "    apply_ops_patch()\n",
            "    apply_ops_patch()\n"
            "    from .models.transformers.wan.device_patch import apply_veomni_wan_device_patch\n\n"
            "    apply_veomni_wan_device_patch()  # OPS406\n",
        ),
        mark(MODELS + "wan/config_wan.py", "    import diffusers", "OPS101"),
        mark(MODELS + "wan/modeling_wan.py", "    import flash_attn_interface", "OPS107"),
    ),
    plant(
        "OPS406",
        "configuration applied by the package",
        swap(
            VEOMNI_INIT,
            "    apply_ops_patch()\n",
            "    apply_ops_patch()\n    from .arguments.arguments_types import OpsImplementationConfig\n\n"
            "    apply_ops_config(OpsImplementationConfig())  # OPS406\n",
        ),
    ),
    plant(
        "OPS406",
        "pointer bound by the package",
        swap(
            OPS_INIT,
            "        apply_veomni_attention_patch()\n",
            "        apply_veomni_attention_patch()\n        moe.apply_veomni_fused_moe_patch()  # OPS406\n",
        ),
    ),
    _append("pointer bound at import", KERNELS_INIT, 'moe.apply_veomni_fused_moe_patch("triton")  # OPS406'),
    _append("configuration applied by the ops", OPS_INIT, "apply_ops_config(None)  # OPS406"),
    plant(
        "OPS406",
        "model patched by a module of the ops",
        create(
            "veomni/ops/llama_patch.py",
            f"{LLAMA_PATCH}\n\n\ndef forward(self, x):\n    return x\n\n\nmodeling_llama.LlamaMLP.forward = forward",
        ),
        append(OPS_INIT, "from . import llama_patch  # noqa: F401  # OPS406"),
    ),
    plant(
        "OPS406",
        "model patched below the ops",
        create("veomni/ops/kernels/llama_patch.py", f'{LLAMA_PATCH}\n\nsetattr(modeling_llama, "LlamaMLP", object)'),
        append(KERNELS_INIT, "from .llama_patch import modeling_llama  # noqa: F401  # OPS406"),
    ),
    _append(
        "model patched by the package",
        VEOMNI_INIT,
        f"{LLAMA_PATCH}\n\nmodeling_llama.LlamaRMSNorm = None  # OPS406",
    ),
    _append(
        "model patched by a function that import runs",
        OPS_INIT,
        f"def _patch():\n    {LLAMA_PATCH}\n\n    modeling_llama.LlamaRMSNorm = None\n\n\n_patch()  # OPS406",
    ),
    _append(
        "slot asked at import",
        LLAMA_GPU,
        "if veomni_rms_norm.use_non_eager_impl:  # OPS406\n    LlamaRMSNorm = None",
    ),
    _append("kernel kept at import", LLAMA_GPU, "KERNEL = veomni_rms_norm.bound_kernel()  # OPS406"),
    plant(
        "OPS406",
        "slot asked by an embedded block",
        append(
            LLAMA_CONFIG,
            'config.add_post_import_block(\n    """\n    from veomni.ops.dispatch import OpSlot\n'
            '    veomni_extra = OpSlot("rms_norm", "standard")\n'
            '    FUSED = veomni_extra.use_non_eager_impl  # OPS406\n    """\n)',
        ),
    ),
    _append("harmless read when a model is built", AUTO, f"def f():\n    {READ}\n\n    return get_ops_config()"),
    _append("harmless read in a lambda", RMS_NORM, f"{READ}\n\nconfig = lambda: get_ops_config()"),
    _append("harmless attribute of the machinery", AUTO, "import transformers\n\ntransformers.VERBOSE = True"),
)
