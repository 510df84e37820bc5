"""OPS701 and OPS702: generated files that are not what their patch config makes, or use names that are not there."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, mark, plant, swap
from evaluation.mutations.tree_places import MODELS, QWEN3_GPU, QWEN3_NPU

CONFIG = MODELS + "qwen3/qwen3_gpu_patch_gen_config.py"
DEEPSEEK = MODELS + "deepseek_v3/generated/patched_modeling_deepseek_v3_gpu.py"
SEED_OSS = MODELS + "seed_oss/generated/patched_modeling_seed_oss_gpu.py"
SLOT = 'veomni_rms_norm = OpSlot("rms_norm", "standard")\n'
CHECK = "if veomni_rms_norm.use_non_eager_impl:"
ROTATE = "def rotate_half(x):\n"
MOE_IMPORT = "from veomni.ops import fused_moe_forward\n"


def _stale(name: str, old: str, new: str, path: str = QWEN3_GPU, *more: Edit) -> Mutation:
    return plant("OPS701", name, swap(path, old, new), *more)


def _name(name: str, old: str, new: str, path: str = QWEN3_GPU, *more: Edit) -> Mutation:
    return plant("OPS702", name, swap(path, old, new), *more)


MUTATIONS = (
    _stale("slot edited", SLOT, SLOT.replace("standard", "unweighted").replace("\n", "  # OPS701\n")),
    _stale("slot added", SLOT, SLOT + 'veomni_extra = OpSlot("rms_norm", "standard")  # OPS701\n'),
    _stale("body edited", CHECK, CHECK.replace(":", " and True:  # OPS701")),
    _stale("body edited on the NPU", CHECK, CHECK.replace(":", " and True:  # OPS701"), QWEN3_NPU),
    _stale("default edited", "    unsqueeze_dim: int = 1,", "    unsqueeze_dim: int = 2,  # OPS701"),
    _stale(
        "statement added", "        " + CHECK, "        hidden_states = hidden_states * 1  # OPS701\n        " + CHECK
    ),
    _stale("call edited", "veomni_swiglu_mlp(self, x)", "veomni_swiglu_mlp(self, x.contiguous())  # OPS701"),
    _stale(
        "import edited",
        MOE_IMPORT,
        MOE_IMPORT.replace("ops", "ops.kernels.moe").replace("\n", "  # OPS701\n"),
        DEEPSEEK,
    ),
    _stale(
        "replacement edited",
        "import LigerSwiGLUMLP as SeedOssMLP",
        "import LigerGEGLUMLP as SeedOssMLP  # OPS701",
        SEED_OSS,
    ),
    _stale(
        "config edited",
        CHECK,
        CHECK.replace(":", " and True:"),
        CONFIG,
        mark(QWEN3_GPU, CHECK, "OPS701"),
        mark(QWEN3_NPU, CHECK, "OPS701"),
    ),
    _stale(
        "harmless comment",
        "    # Modification: OpSlot guard — use fused RMSNorm kernel when bound.",
        "    # Modified.",
        CONFIG,
    ),
    _stale("harmless layout", '"rms_norm", "standard")\n', '"rms_norm",\n                         "standard")\n'),
    _stale("harmless quotes", SLOT, SLOT.replace('"', "'")),
    _name("slot taken out", SLOT, "", QWEN3_GPU, mark(QWEN3_GPU, CHECK, "OPS702")),
    _name(
        "typo in a check",
        CHECK,
        "if veomni_rms_nrm.use_non_eager_impl:  # OPS702",
        QWEN3_NPU,
        mark(QWEN3_NPU, "return veomni_rms_norm(", "OPS305"),
    ),
    _name("typo in a base", "class Qwen3RMSNorm(nn.Module):", "class Qwen3RMSNorm(nnn.Module):  # OPS702"),
    _name("typo in a lambda", ROTATE, "rotate = lambda x: undefind(x)  # OPS702\n\n\n" + ROTATE),
    _name("default of a parameter", "    unsqueeze_dim: int = 1,", "    unsqueeze_dim: int = DEFAULT_DIM,  # OPS702"),
    _name("comprehension", ROTATE, ROTATE + "    y = [z for z in x if undefind(z)]  # OPS702\n"),
    _name("annotation", ROTATE, "def rotate_half(x: Undefind):  # OPS702\n"),
    _name(
        "name of a class body",
        ROTATE,
        "class A:\n    size = 3\n\n    def area(self):\n        return size  # OPS702\n\n\n" + ROTATE,
    ),
    _name("decorator", ROTATE, "@undefind  # OPS702\n" + ROTATE),
    _name("harmless string annotation", ROTATE, 'def rotate_half(x: "Undefind"):\n'),
    _name(
        "harmless handled error", ROTATE, ROTATE + "    try:\n        undefind\n    except NameError:\n        pass\n"
    ),
    _name("harmless star", "from torch import nn\n", "from torch import *\nfrom torch import nn\n"),
    _name("harmless global", ROTATE, ROTATE + "    global _cached\n    _cached = 1\n    return _cached\n"),
)
