"""OPS407: OpSpecs, BackendSpecs and targets that the registry of ops rejects."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, mark, plant, swap
from evaluation.mutations.tree_places import LOAD_BALANCING, MODELS, RMS_NORM, ROTARY, SWIGLU

REGISTRY = "veomni/ops/config/registry.py"
DEEPSEEK = MODELS + "deepseek_v3/device_patch.py"
WAN = MODELS + "wan/device_patch.py"
SLOT = '        global_slot="veomni.ops.kernels.load_balancing_loss:_load_balancing_loss",\n'


def _swap(name: str, path: str, old: str, new: str, nth: int | None = None) -> Mutation:
    return plant("OPS407", name, swap(path, old, new, nth))


MUTATIONS = (
    plant(
        "OPS407",
        "global op without slot",
        swap(LOAD_BALANCING, SLOT, ""),
        mark(LOAD_BALANCING, "        scope=OpScope.GLOBAL,", "OPS407"),
    ),
    _swap("per model op made global", RMS_NORM, "scope=OpScope.PER_MODEL,", "scope=OpScope.GLOBAL,  # OPS407"),
    _swap(
        "global op made per model",
        LOAD_BALANCING,
        '        scope=OpScope.GLOBAL,\n        default="triton",\n' + SLOT,
        '        scope=OpScope.PER_MODEL,\n        default="triton",\n' + SLOT.rstrip("\n") + "  # OPS407\n",
    ),
    _swap("slot without colon", LOAD_BALANCING, SLOT, SLOT.replace(":", ".").rstrip("\n") + "  # OPS407\n"),
    _swap("default of no backend", RMS_NORM, 'default="liger_kernel",', 'default="liger",  # OPS407'),
    _swap("default of a renamed backend", LOAD_BALANCING, 'default="triton",', 'default="fused",  # OPS407'),
    plant(
        "OPS407",
        "backend of the default renamed",
        swap(SWIGLU, '            "liger_kernel": BackendSpec(', '            "liger": BackendSpec('),
        mark(SWIGLU, '        default="liger_kernel",', "OPS407"),
    ),
    plant(
        "OPS407",
        "unknown token",
        swap(
            RMS_NORM, '                requires=("torch_npu",),', '                requires=("torch-npu",),  # OPS407'
        ),
        mark(RMS_NORM, 'entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",', "OPS201"),
    ),
    _swap(
        "token of a package that is not checked",
        ROTARY,
        '                requires=("liger_kernel",),',
        '                requires=("quack",),  # OPS407',
    ),
    _swap(
        "one more token",
        SWIGLU,
        '                requires=("liger_kernel",),',
        '                requires=["liger_kernel", "flash_attn"],  # OPS407',
    ),
    _swap(
        "string for a tuple",
        SWIGLU,
        '                requires=("liger_kernel",),',
        '                requires=("liger_kernel"),  # OPS407',
    ),
    plant(
        "OPS407",
        "token that the check forgets",
        swap(REGISTRY, '        elif pkg == "triton":', '        elif pkg == "triton_ascend":'),
        mark(WAN, '                    requires=("triton",),', "OPS407"),
    ),
    _swap(
        "token of an extra backend",
        WAN,
        '                    requires=("triton",),',
        '                    requires=("tritton",),  # OPS407',
    ),
    _swap(
        "entry with a dot",
        RMS_NORM,
        '                entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",',
        '                entry="veomni.ops.kernels.rms_norm.npu.rms_norm_forward_npu",  # OPS407',
    ),
    _swap(
        "entry without attribute",
        RMS_NORM,
        '                entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",',
        '                entry="veomni.ops.kernels.rms_norm.npu:",  # OPS407',
    ),
    _swap(
        "entry of an extra backend",
        DEEPSEEK,
        '    entry="veomni.models.transformers.deepseek_v3.device_patch:_make_batch_invariant_rms_norm_forward",',
        '    entry="veomni.models.transformers.deepseek_v3.device_patch",  # OPS407',
    ),
    _swap(
        "unknown target",
        DEEPSEEK,
        '            "rms_norm": "DeepseekV3RMSNorm",',
        '            "rmsnorm": "DeepseekV3RMSNorm",  # OPS407\n            "rms_norm": "DeepseekV3RMSNorm",',
    ),
    _swap(
        "global target",
        DEEPSEEK,
        '            "rms_norm": "DeepseekV3RMSNorm",',
        '            "rms_norm": "DeepseekV3RMSNorm",\n            "load_balancing_loss": "loss",  # OPS407',
    ),
    plant(
        "OPS407",
        "extra backend of an op that is no target",
        swap(DEEPSEEK, '            "rms_norm": "DeepseekV3RMSNorm",\n', ""),
        mark(DEEPSEEK, '            "rms_norm": {"triton": _TRITON_RMS_NORM_BACKEND},', "OPS407"),
    ),
    plant(
        "OPS407",
        "target in a variable",
        append(
            WAN,
            'TARGETS = {"rope": "rope_apply"}  # OPS407\n\n\ndef again(module):\n'
            '    apply_per_model_patches(module, "Wan", TARGETS)',
        ),
    ),
    _swap("harmless eager default", RMS_NORM, 'default="liger_kernel",', 'default="eager",'),
    _swap(
        "harmless entry of another package",
        SWIGLU,
        'entry="liger_kernel.transformers.swiglu:LigerSwiGLUMLP",',
        'entry="a.b:C",',
    ),
)
