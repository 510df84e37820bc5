"""OPS402 and OPS403: function pointers imported by value, and rebound elsewhere."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, plant, swap
from evaluation.mutations.tree_places import AUTO, LLAMA_GPU, LLAMA_INIT, MODELS, OPS_INIT

MOE = "veomni/ops/kernels/moe/__init__.py"
LOSS = "veomni/ops/kernels/load_balancing_loss/__init__.py"
LORA_LAYERS = "veomni/lora/moe_layers.py"
LLAMA_CONFIG = MODELS + "llama/llama_gpu_patch_gen_config.py"


def _read(name: str, path: str, code: str) -> Mutation:
    return plant("OPS402", name, append(path, code))


def _rebound(name: str, path: str, code: str) -> Mutation:
    return plant("OPS403", name, append(path, code))


MUTATIONS = (
    _read("import by value", AUTO, "from veomni.ops.kernels.moe import _fused_moe_forward  # OPS402"),
    _read("relative import", AUTO, "from ..ops.kernels.moe import _fused_moe_forward  # OPS402"),
    _read(
        "import under another name", LLAMA_INIT, "from veomni.ops.kernels.moe import _fused_moe_forward as f  # OPS402"
    ),
    _read(
        "import among others",
        LORA_LAYERS,
        """
        from veomni.ops.kernels.moe import (
            fused_moe_forward,
            _fused_moe_forward,  # OPS402
        )
        """,
    ),
    plant(
        "OPS402",
        "passed on and imported from there",
        append(OPS_INIT, "from .kernels.moe import _fused_moe_forward  # OPS402"),
        append(AUTO, "from veomni.ops import _fused_moe_forward as kernel  # OPS402"),
    ),
    _read("lora pointer", LORA_LAYERS, "from .ops import _fused_lora_moe_forward  # OPS402"),
    _read(
        "pointer that is only listed",
        AUTO,
        "from ..ops.kernels.attention.flash import _flash_attention_forward  # OPS402",
    ),
    _read(
        "pointer with a default",
        AUTO,
        "from ..ops.kernels.load_balancing_loss import _load_balancing_loss as loss  # OPS402",
    ),
    _read("kept in a variable", AUTO, "from ..ops.kernels import moe\n\nKERNEL = moe._fused_moe_forward  # OPS402"),
    _read(
        "kept in a class",
        AUTO,
        "import veomni.ops.kernels.moe\n\n\nclass A:\n    kernel = veomni.ops.kernels.moe._fused_moe_forward  # OPS402",
    ),
    _read(
        "default argument",
        AUTO,
        "from ..ops.kernels import moe\n\n\ndef f(x, k=moe._fused_moe_forward):  # OPS402\n    return k(x)",
    ),
    _read(
        "keyword default of a method",
        AUTO,
        """
        from ..ops.kernels import moe as m


        class A:
            def f(
                self,
                *,
                kernel=m._fused_moe_forward,  # OPS402
            ):
                return kernel
        """,
    ),
    _read(
        "default in its own module",
        MOE,
        "def again(x, kernel=_fused_moe_forward):  # OPS402\n    return kernel(x)",
    ),
    _read("alias in its own module", MOE, "fused = _fused_moe_forward  # OPS402"),
    _read(
        "argument of a partial",
        AUTO,
        "from functools import partial\n\nfrom ..ops.kernels import moe\n\n"
        "F = partial(moe._fused_moe_forward, 8)  # OPS402",
    ),
    _read("table", OPS_INIT, 'ALL = {"moe": moe._fused_moe_forward}  # OPS402'),
    _read("getattr", OPS_INIT, 'KERNEL = getattr(moe, "_fused_moe_forward")  # OPS402'),
    _read("under a condition", OPS_INIT, "if logger:\n    KERNEL = moe._fused_moe_forward  # OPS402"),
    plant(
        "OPS402",
        "generated model",
        append(LLAMA_GPU, "from veomni.ops.kernels.moe import _fused_moe_forward  # OPS402"),
    ),
    plant(
        "OPS402",
        "embedded block",
        append(
            LLAMA_CONFIG,
            'config.add_post_import_block(\n    """\n'
            "    from veomni.ops.kernels.moe import _fused_moe_forward  # OPS402\n"
            '    """\n)',
        ),
    ),
    plant(
        "OPS402",
        "import that a config asks for",
        append(LLAMA_CONFIG, 'config.add_import("veomni.ops.kernels.moe", names=["_fused_moe_forward"])  # OPS402'),
    ),
    plant(
        "OPS402",
        "harmless through the module at the time of the call",
        append(AUTO, "from ..ops.kernels import moe\n\n\ndef f(x):\n    return moe._fused_moe_forward(*x)"),
    ),
    plant(
        "OPS402",
        "harmless import where it is used",
        append(
            AUTO, "def f(x):\n    from ..ops.kernels.moe import _fused_moe_forward\n\n    return _fused_moe_forward(*x)"
        ),
    ),
    plant("OPS402", "harmless lambda", append(OPS_INIT, "KERNEL = lambda x: moe._fused_moe_forward(*x)")),
    _rebound(
        "attribute of the module",
        AUTO,
        "def f(k):\n    from ..ops.kernels import moe\n\n    moe._fused_moe_forward = k  # OPS403",
    ),
    _rebound(
        "full name",
        AUTO,
        "import veomni.ops.kernels.moe\n\nveomni.ops.kernels.moe._fused_moe_forward = print  # OPS403",
    ),
    _rebound("setattr", OPS_INIT, 'def f(k):\n    setattr(moe, "_fused_moe_forward", k)  # OPS403'),
    _rebound(
        "import_module",
        AUTO,
        'import importlib\n\nimportlib.import_module("veomni.ops.kernels.moe")._fused_moe_forward = None  # OPS403',
    ),
    _rebound(
        "another function", MOE, "def use(k):\n    global _fused_moe_forward\n    _fused_moe_forward = k  # OPS403"
    ),
    _rebound(
        "import in another function",
        MOE,
        "def use():\n    global _fused_moe_forward\n"
        "    from .group_gemm import group_gemm_fused_moe_forward as _fused_moe_forward  # OPS403",
    ),
    _rebound(
        "pointer of an op",
        LOSS,
        "def use(k):\n    global _load_balancing_loss\n    _load_balancing_loss = k  # OPS403",
    ),
    _rebound(
        "several targets",
        OPS_INIT,
        "def f(k):\n    moe._fused_moe_forward, load_balancing_loss._load_balancing_loss = k, k  # OPS403, OPS403",
    ),
    _rebound("dict of the module", OPS_INIT, 'def f(k):\n    moe.__dict__["_fused_moe_forward"] = k  # OPS403'),
    _rebound("globals", MOE, 'def f(k):\n    globals()["_fused_moe_forward"] = k  # OPS403'),
    _rebound(
        "method",
        LORA_LAYERS,
        "class A:\n    def f(self, k):\n        from . import ops\n\n        ops._fused_lora_moe_forward = k  # OPS403",
    ),
    plant(
        "OPS403",
        "harmless helper of the apply function",
        swap(
            MOE,
            "        _fused_moe_forward = npu_fused_moe_forward",
            "        _bind(npu_fused_moe_forward)",
        ),
        append(MOE, "def _bind(kernel):\n    global _fused_moe_forward\n    _fused_moe_forward = kernel"),
    ),
    _rebound("deleted", OPS_INIT, "def f():\n    del moe._fused_moe_forward  # OPS403"),
    _rebound("delattr", OPS_INIT, 'def f():\n    delattr(moe, "_fused_moe_forward")  # OPS403'),
    _rebound("deleted there", MOE, "def f():\n    global _fused_moe_forward\n    del _fused_moe_forward  # OPS403"),
    plant("OPS403", "harmless deletion", append(OPS_INIT, "def f(x):\n    del x._fused_moe_forward")),
    plant("OPS403", "harmless read only", append(OPS_INIT, "def f():\n    return moe._fused_moe_forward == None")),
    plant(
        "OPS403",
        "harmless another attribute of that name",
        append(AUTO, "class A:\n    def f(self, k):\n        self._fused_moe_forward = k"),
    ),
)
