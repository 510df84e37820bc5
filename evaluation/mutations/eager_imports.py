"""OPS101 and OPS107: optional dependencies loaded by importing the ops package or a model package."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, create, plant, swap
from evaluation.mutations.tree_places import (
    BATCH_INVARIANT,
    CROSS_ENTROPY,
    GATED_DELTA,
    KERNELS,
    KERNELS_INIT,
    LIGER,
    LLAMA_CONFIG,
    LLAMA_INIT,
    LOAD_BALANCING,
    MOE,
    OPS,
    OPS_INIT,
    QWEN3_GPU,
    SWIGLU,
    ULYSSES,
)

REGISTRY_IMPORT = "from ...config.registry import BackendSpec, OpScope, OpSpec, register_op"
NOT_TRITON = "from ....utils.import_utils import is_liger_kernel_available\n\n"


def _eager(name: str, code: str, path: str = SWIGLU, anchor: str = REGISTRY_IMPORT) -> Mutation:
    """Add *code* to the imports of a package that the ops package imports."""
    return plant("OPS101", name, after(path, anchor, code))


def _chain(name: str, path: str, statement: str) -> Mutation:
    """Hoist the import of a kernel module, which loads its dependency itself, to module level."""
    return plant("OPS101", name, append(path, f"{statement}  # OPS101"))


def _tried(name: str, code: str, path: str = SWIGLU, anchor: str = REGISTRY_IMPORT) -> Mutation:
    """Add *code*, which tries to import an optional dependency, to a package that the ops package imports."""
    return plant("OPS107", name, after(path, anchor, code))


EAGER = (
    _eager("whole library", "import liger_kernel  # OPS101"),
    _eager("name of a library", "from liger_kernel.transformers.swiglu import LigerSwiGLUMLP  # OPS101"),
    _eager("module of a library", "import triton.language as tl  # OPS101"),
    _eager("second on the line", "import math, triton  # OPS101"),
    _eager("library of attention kernels", "import flash_attn_interface  # OPS101"),
    _eager(
        "library of a linear attention",
        "from fla.modules import FusedRMSNormGated  # OPS101",
        GATED_DELTA,
        "from ...kernel_registry import",
    ),
    _eager(
        "library of a kernel language",
        "import tilelang  # OPS101",
        KERNELS + "mhc/__init__.py",
        "from ...kernel_registry import",
    ),
    _eager("in the ops package itself", "import triton  # OPS101", OPS_INIT, "from ..utils import logging"),
    _eager("in the package of all kernels", "import quack  # OPS101", KERNELS_INIT, '"""\n'),
    _eager(
        "in the library adapters",
        "from liger_kernel.ops.swiglu import LigerSiLUMulFunction  # OPS101",
        LIGER,
        "from ..kernel_registry import",
    ),
    _eager(
        "in a shared module that the ops import",
        "import flash_attn  # OPS101",
        ULYSSES,
        "import torch.distributed as dist",
    ),
    _eager(
        "late: made by a constructor",
        "class _Loader:\n    def __init__(self):\n        import triton\n\n        self.triton = triton\n\n\n"
        "_LOADER = _Loader()  # OPS101",
    ),
    _eager(
        "late: a decorator",
        "def _jit(function):\n    import triton\n\n    return triton.jit(function)\n\n\n"
        "@_jit  # OPS101\ndef _fast(x):\n    return x",
    ),
    _eager(
        "late: a lambda, and names put together",
        "from importlib import import_module as _load\n\n"
        '_ROOT = "triton"\n_language = lambda: _load(f"{_ROOT}.language")\n_tl = _language()  # OPS101',
    ),
    _eager("under a condition that always holds", "if True:\n    import triton  # OPS101"),
    _eager("negated check", NOT_TRITON + "if not is_liger_kernel_available():\n    import liger_kernel  # OPS101"),
    _eager(
        "check in the else branch",
        NOT_TRITON + "if is_liger_kernel_available():\n    pass\nelse:\n    import liger_kernel  # OPS101",
    ),
    _eager(
        "in the else of type checking",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    pass\nelse:\n    import triton  # OPS101",
    ),
    _eager("in a class body", "class _Language:\n    import triton  # OPS101"),
    _eager("in a loop", "for _ in range(1):\n    import triton  # OPS101"),
    _eager("in a with block", "import contextlib\n\nwith contextlib.nullcontext():\n    import triton  # OPS101"),
    _eager(
        "method of an object",
        "class _Loader:\n    def load(self):\n        import triton\n\n        return triton\n\n\n"
        "TRITON = _Loader().load()  # OPS101",
    ),
    _eager(
        "method of a held object",
        "class _Loader:\n    def load(self):\n        self._load()\n\n    def _load(self):\n        import triton\n\n\n"
        "_loader = _Loader()\n_loader.load()  # OPS101",
    ),
    _eager("by a map in a list", "import importlib\n\nKERNELS = [*map(importlib.import_module, ['triton'])]  # OPS101"),
    _eager(
        "when a class is derived",
        "class _Kernel:\n    def __init_subclass__(cls):\n        import triton\n\n        cls.language = triton\n\n\n"
        "class _Fast(_Kernel):  # OPS101\n    pass",
    ),
    _eager(
        "in a metaclass",
        "class _Meta(type):\n    def __init__(cls, *args):\n        import triton\n\n\n"
        "class _Fast(metaclass=_Meta):  # OPS101\n    pass",
    ),
    _eager(
        "harmless: class that nobody derives from",
        "class _Kernel:\n    def __init_subclass__(cls):\n        import triton\n\n        cls.language = triton",
    ),
    _eager("by a map", "import importlib\n\nKERNELS = list(map(importlib.import_module, ('triton',)))  # OPS101"),
    _eager("in a list", "import importlib\n\nKERNELS = [importlib.import_module(n) for n in ('triton',)]  # OPS101"),
    _eager("by a call in a class body", "class _Kernels:\n    triton = __import__('triton')  # OPS101"),
    _eager(
        "harmless method",
        "class _Loader:\n    def load(self):\n        import triton\n\n        return triton\n\n\n_loader = _Loader()",
    ),
    _eager("in a default argument", 'def swiglu(language=__import__("triton")):  # OPS101\n    return language'),
    _eager("by name", 'import importlib\n\ntriton = importlib.import_module("triton")  # OPS101'),
    _eager(
        "by name of a module",
        'from importlib import import_module\n\nops = import_module("liger_kernel.ops.swiglu")  # OPS101',
    ),
    _eager("by dunder import", 'triton = __import__("triton")  # OPS101'),
    _eager("try with another exception", "try:\n    import triton  # OPS101\nexcept ValueError:\n    triton = None"),
    _eager(
        "try that raises again",
        "try:\n    import triton  # OPS101\nexcept ImportError as error:\n"
        '    raise RuntimeError("no triton") from error',
    ),
    _eager("try without except", "try:\n    import triton  # OPS101\nfinally:\n    READY = True"),
    _eager("in the except block", "try:\n    import apex\nexcept ImportError:\n    import triton  # OPS101"),
    _eager(
        "helper called at import",
        "def _language():\n    import triton  # OPS101:a\n\n    return triton\n\n\n_language()  # OPS101:a",
    ),
    _chain("kernel module of one op", LOAD_BALANCING, "from .triton import load_balancing_loss_triton"),
    _chain("kernel module of another op", CROSS_ENTROPY, "from .liger import fused_liger_kernel_cross_entropy"),
    _chain("kernel module as a module", CROSS_ENTROPY, "from . import liger"),
    _chain("everything of a kernel module", LOAD_BALANCING, "from .triton import *"),
    _chain(
        "kernel module by its full name",
        MOE,
        "from veomni.ops.kernels.moe.quack_gemm import quack_gemm_fused_moe_forward",
    ),
    _chain("kernel two modules away", MOE, "from .group_gemm import group_gemm_fused_moe_forward"),
    _chain("kernel module of another package", OPS_INIT, "from .kernels.rotary.triton_wan import apply_rotary_emb"),
    _chain("re-export of a lazy package", BATCH_INVARIANT, "from .batch_invariant_ops import mm_batch_invariant"),
    plant(
        "OPS101",
        "through a new module",
        create(KERNELS + "swiglu/fused.py", "from .language import tl  # OPS101:a"),
        create(KERNELS + "swiglu/language.py", "import triton.language as tl  # OPS101:a"),
        append(SWIGLU, "from . import fused  # OPS101:a"),
    ),
    plant(
        "OPS101",
        "by the package of a lazy module",
        create(KERNELS + "swiglu/backends/__init__.py", "import triton  # OPS101:a"),
        create(KERNELS + "swiglu/backends/plain.py", "def swiglu(x):\n    return x"),
        append(SWIGLU, "from .backends.plain import swiglu  # OPS101:a"),
    ),
    plant(
        "OPS101",
        "in a model package",
        append(LLAMA_INIT, "from liger_kernel.transformers import apply_liger_kernel_to_llama  # OPS101"),
    ),
    plant(
        "OPS101",
        "in a generated file",
        swap(
            QWEN3_GPU,
            "\nveomni_rms_norm = ",
            "\nfrom liger_kernel.transformers.rms_norm import LigerRMSNorm  # OPS101\nveomni_rms_norm = ",
        ),
    ),
    plant(
        "OPS101",
        "in a block of a patch config",
        swap(
            LLAMA_CONFIG,
            "    veomni_rms_norm = ",
            "    from liger_kernel.transformers.rms_norm import LigerRMSNorm  # OPS101\n    veomni_rms_norm = ",
        ),
    ),
    _eager("harmless: type checking", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import triton"),
    _eager("harmless: in a function", "def _language():\n    import triton\n\n    return triton"),
    _eager("harmless: module of that name in the project", "from ..load_balancing_loss import eager as triton"),
    _eager("harmless: name that begins alike", "import flax_like\nimport fladrive"),
    plant("OPS101", "harmless: module that nobody imports", create(KERNELS + "swiglu/fused.py", "import triton")),
    plant(
        "OPS101",
        "harmless: kernel module with lazy imports",
        append(KERNELS + "mhc/__init__.py", "from .tile_kernels import mhc_pre_tile_kernels"),
    ),
)

TRIED = (
    _tried("ImportError", "try:\n    import triton  # OPS107\nexcept ImportError:\n    triton = None"),
    _tried("ModuleNotFoundError", "try:\n    import triton  # OPS107\nexcept ModuleNotFoundError:\n    triton = None"),
    _tried(
        "one of several exceptions",
        "try:\n    import triton  # OPS107\nexcept (AttributeError, ImportError):\n    triton = None",
    ),
    _tried("every exception", "try:\n    import triton  # OPS107\nexcept Exception:\n    triton = None"),
    _tried("bare except", "try:\n    import triton  # OPS107\nexcept:\n    triton = None"),
    _tried(
        "second handler",
        "try:\n    import triton  # OPS107\nexcept ValueError:\n    raise\nexcept ImportError:\n    triton = None",
    ),
    _tried(
        "name of a library",
        "try:\n    from liger_kernel.ops.swiglu import LigerSiLUMulFunction  # OPS107\nexcept ImportError:\n"
        "    LigerSiLUMulFunction = None",
    ),
    _tried(
        "flag set",
        "try:\n    import quack  # OPS107\n\n    HAS_QUACK = True\nexcept ImportError:\n    HAS_QUACK = False",
    ),
    _tried("suppressed", "import contextlib\n\nwith contextlib.suppress(ImportError):\n    import triton  # OPS107"),
    _tried(
        "by name",
        'import importlib\n\ntry:\n    triton = importlib.import_module("triton")  # OPS107\n'
        "except ImportError:\n    triton = None",
    ),
    _tried(
        "inner try",
        "try:\n    try:\n        import triton  # OPS107\n    finally:\n        READY = True\n"
        "except ImportError:\n    triton = None",
    ),
    _tried(
        "under a condition",
        "import os\n\nif os.name == 'posix':\n    try:\n        import triton  # OPS107\n"
        "    except ImportError:\n        triton = None",
    ),
    _tried(
        "in the ops package itself",
        "try:\n    import flash_attn  # OPS107\nexcept ImportError:\n    flash_attn = None",
        OPS_INIT,
        "from ..utils import logging",
    ),
    _tried(
        "in a shared module that the ops import",
        "try:\n    import flash_attn  # OPS107\nexcept ImportError:\n    flash_attn = None",
        ULYSSES,
        "import torch.distributed as dist",
    ),
    _tried(
        "two libraries",
        "try:\n    import triton  # OPS107\n    import quack  # OPS107\nexcept ImportError:\n    triton = quack = None",
    ),
    plant(
        "OPS107",
        "kernel module",
        append(
            LOAD_BALANCING,
            "try:\n    from .triton import load_balancing_loss_triton  # OPS107\nexcept ImportError:\n"
            "    load_balancing_loss_triton = None",
        ),
    ),
    plant(
        "OPS107",
        "kernel module two modules away",
        append(
            MOE,
            "try:\n    from .group_gemm import group_gemm_fused_moe_forward  # OPS107\nexcept ImportError:\n    pass",
        ),
    ),
    _tried(
        "harmless: in a function",
        "def _has_triton():\n    try:\n        import triton\n    except ImportError:\n        return False\n"
        "    return True",
    ),
    _tried("harmless: no optional dependency", "try:\n    import apex\nexcept ImportError:\n    apex = None"),
    plant(
        "OPS107",
        "harmless: module that nobody imports",
        create(OPS + "kernels/swiglu/fused.py", "try:\n    import triton\nexcept ImportError:\n    triton = None"),
    ),
)

MUTATIONS = EAGER + TRIED
