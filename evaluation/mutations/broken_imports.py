"""OPS103: imports, exports and entry strings that name what the project does not have."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, create, delete, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    AUTO,
    HELPER,
    KERNELS,
    KERNELS_INIT,
    LLAMA_CONFIG,
    LLAMA_GPU,
    LOAD_BALANCING,
    OPS_INIT,
    QWEN3_CONFIG,
    RMS_NORM,
    ROTARY,
    SWIGLU,
)

REGISTRY_IMPORT = "from ...config.registry import BackendSpec, OpScope, OpSpec, register_op"


def _given(name: str, code: str, path: str = SWIGLU, anchor: str = REGISTRY_IMPORT) -> Mutation:
    """Add *code* to the imports of a package of the ops package."""
    return plant("OPS103", name, after(path, anchor, code))


BROKEN = (
    plant(
        "OPS103",
        "name misspelt at module level",
        swap(
            OPS_INIT,
            "from .kernels.moe import fused_moe_forward",
            "from .kernels.moe import fuse_moe_forward  # OPS103",
        ),
    ),
    plant(
        "OPS103",
        "module misspelt at module level",
        swap(OPS_INIT, "from .dispatch import OpSlot", "from .dispatcher import OpSlot  # OPS103, OPS105?"),
    ),
    plant(
        "OPS103",
        "name misspelt in a factory",
        swap(
            LOAD_BALANCING,
            "    from .triton import load_balancing_loss_triton",
            "    from .triton import load_balancing_triton  # OPS103, OPS106?",
        ),
    ),
    plant(
        "OPS103",
        "module misspelt in a factory",
        swap(
            LOAD_BALANCING,
            "    from .triton import load_balancing_loss_triton",
            "    from .triton_kernel import load_balancing_loss_triton  # OPS103, OPS106?",
        ),
    ),
    _given("one dot too many", "from .....utils import logging  # OPS103"),
    _given("one dot too few", "from .utils import logging  # OPS103"),
    _given("dots out of the package", "from ......utils import logging  # OPS103"),
    _given("plain import of a lost module", "import veomni.ops.kernels.swiglu.triton_swiglu  # OPS103"),
    _given("submodule of a module", "import veomni.utils.helper.timer  # OPS103"),
    _given("itself", "from . import eager  # OPS103"),
    _given("private name that moved", "from veomni.ops.kernels.moe import _moe_kernel  # OPS103"),
    _given(
        "second of several names",
        "from ....utils.device import (\n    IS_NPU_AVAILABLE,\n    is_gpu_there,  # OPS103\n)",
    ),
    _given("by name", 'import importlib\n\nimportlib.import_module("veomni.ops.kernels.swiglu.fused")  # OPS103'),
    _given(
        "by relative name",
        'import importlib\n\nimportlib.import_module(".fused", __name__)  # OPS103',
    ),
    _given("by dunder import", '__import__("veomni.ops.kernels.swiglu.fused")  # OPS103'),
    _given("try that raises again", "try:\n    from . import fused  # OPS103\nexcept ImportError:\n    raise"),
    _given("only for type checkers there", "from ....utils.import_utils import Version  # OPS103"),
    _given(
        "in a method of a nested class",
        "class _Cache:\n    class Inner:\n        def load(self):\n            from .fused import swiglu  # OPS103\n\n"
        "            return swiglu",
    ),
    _given(
        "on the NPU branch",
        "from ....utils.device import IS_NPU_AVAILABLE\n\n"
        "if IS_NPU_AVAILABLE:\n    from .npu import swiglu_npu  # OPS103",
    ),
    plant(
        "OPS103",
        "file renamed",
        delete(KERNELS + "rotary/triton_wan.py"),
        create(KERNELS + "rotary/wan.py", "def apply_rotary_emb(x, freqs):\n    return x * freqs"),
        mark_all("veomni/", r"rotary\.triton_wan\b|from \.triton_wan", "OPS103"),
    ),
    plant(
        "OPS103",
        "function renamed",
        swap(KERNELS + "load_balancing_loss/triton.py", "def load_balancing_loss_triton(", "def balance_loss_triton("),
        mark_all(LOAD_BALANCING, r"import load_balancing_loss_triton|triton:load_balancing_loss_triton", "OPS103"),
    ),
    plant(
        "OPS103",
        "in a generated file",
        swap(LLAMA_GPU, "from veomni.ops.dispatch import OpSlot", "from veomni.ops.dispatch import OpsSlot  # OPS103"),
    ),
    plant(
        "OPS103",
        "in a block of a patch config",
        swap(
            LLAMA_CONFIG,
            "    from veomni.ops.dispatch import OpSlot\n    veomni_rms_norm",
            "    from veomni.ops.dispatcher import OpSlot  # OPS103\n    veomni_rms_norm",
        ),
    ),
    plant(
        "OPS103",
        "in add_import",
        append(LLAMA_CONFIG, 'config.add_import("veomni.utils.losses", names=["loss"])  # OPS103'),
    ),
    plant(
        "OPS103",
        "name in add_import",
        append(LLAMA_CONFIG, 'config.add_import("veomni.utils.helper", names=["get_cache", "empty_cash"])  # OPS103'),
    ),
    plant(
        "OPS103",
        "relative to the config in a patch",
        append(
            QWEN3_CONFIG,
            '@config.replace_function("rotate_half")\ndef rotate_half(x):\n'
            "    from . import qwen3_gpu_patch_gen_config  # OPS103\n\n    return x",
        ),
    ),
    plant("OPS103", "exported name", append(SWIGLU, '__all__ = ["swiglu_mlp_forward"]  # OPS103')),
    plant("OPS103", "exported later", append(SWIGLU, '__all__ = []\n__all__ += ["swiglu_mlp_forward"]  # OPS103')),
    plant(
        "OPS103",
        "entry of a backend, module",
        swap(
            ROTARY,
            'entry="veomni.ops.kernels.rotary.npu:apply_rotary_pos_emb_npu"',
            'entry="veomni.ops.kernels.rope.npu:apply_rotary_pos_emb_npu"',
        ),
        mark_all(ROTARY, r"rope\.npu:", "OPS103"),
    ),
    plant(
        "OPS103",
        "entry of a backend, attribute",
        swap(
            RMS_NORM,
            'entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu"',
            'entry="veomni.ops.kernels.rms_norm.npu:npu_rms_norm"',
        ),
        mark_all(RMS_NORM, r"npu:npu_rms_norm", "OPS103"),
    ),
    plant(
        "OPS103",
        "global slot",
        swap(
            LOAD_BALANCING,
            'global_slot="veomni.ops.kernels.load_balancing_loss:_load_balancing_loss"',
            'global_slot="veomni.ops.kernels.load_balancing_loss:_lb_loss"',
        ),
        mark_all(LOAD_BALANCING, r":_lb_loss", "OPS103"),
    ),
    plant(
        "OPS103",
        "in a function far from the ops",
        append(AUTO, "def _slots():\n    from ..ops.dispatch import all_slots  # OPS103\n\n    return all_slots()"),
    ),
    plant(
        "OPS103",
        "in a method of the trainer",
        append(
            "veomni/trainer/base.py",
            "def _helper():\n    from veomni.utils.helpers import set_seed  # OPS103\n\n    return set_seed",
        ),
    ),
    _given("harmless: handled", "try:\n    from .fused import swiglu\nexcept ImportError:\n    swiglu = None"),
    _given(
        "harmless: suppressed", "import contextlib\n\nwith contextlib.suppress(ImportError):\n    from . import fused"
    ),
    _given(
        "harmless: for type checkers",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .fused import swiglu",
    ),
    _given("harmless: another package", "import veomni_patch.ops\nfrom veomni_kernels import swiglu"),
    _given(
        "harmless: looked for",
        'import importlib.util\n\nif importlib.util.find_spec("veomni.ops.kernels.swiglu.fused"):\n'
        "    from .fused import swiglu",
    ),
    _given("harmless: entry of another package", 'ENTRY = "liger_kernel.ops:nothing"'),
    plant(
        "OPS103",
        "harmless: open module",
        create("veomni/utils/lazy.py", "def __getattr__(name):\n    return name"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.lazy import anything"),
    ),
    plant(
        "OPS103",
        "harmless: names put into globals",
        create("veomni/utils/lazy.py", "for _name in ('a', 'b'):\n    globals()[_name] = _name"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.lazy import a"),
    ),
    plant(
        "OPS103",
        "harmless: global statement",
        create("veomni/utils/lazy.py", "def setup():\n    global state\n    state = 1"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.lazy import state"),
    ),
    plant(
        "OPS103",
        "harmless: everything of a package outside",
        create("veomni/utils/lazy.py", "from transformers.utils import *"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.lazy import logging as hf_logging"),
    ),
    plant(
        "OPS103",
        "harmless: defined on a condition",
        create("veomni/utils/lazy.py", "import os\n\nif os.name == 'nt':\n    def only_there():\n        return 1"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.lazy import only_there"),
    ),
    plant(
        "OPS103",
        "harmless: assigned from outside",
        append(HELPER, "import veomni.utils.constants\n\nveomni.utils.constants.LATE = 1"),
        after(SWIGLU, REGISTRY_IMPORT, "from ....utils.constants import LATE"),
    ),
    plant(
        "OPS103",
        "harmless: namespace package",
        create(KERNELS + "swiglu/backends/plain.py", "def swiglu(x):\n    return x"),
        after(SWIGLU, REGISTRY_IMPORT, "from .backends import plain\nfrom .backends.plain import swiglu"),
    ),
    plant(
        "OPS103",
        "harmless: relative to the generated file in a patch",
        append(
            QWEN3_CONFIG,
            '@config.replace_function("rotate_half")\ndef rotate_half(x):\n'
            "    from .patched_modeling_qwen3_gpu import apply_rotary_pos_emb\n\n    return apply_rotary_pos_emb",
        ),
    ),
    plant("OPS103", "harmless: exported submodule", append(KERNELS_INIT, '__all__ = ["mhc", "moe"]')),
)

MUTATIONS = BROKEN
