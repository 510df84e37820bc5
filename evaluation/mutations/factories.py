"""OPS102 and OPS106: factories that are no lazy factories, and factories that return no kernel."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, before, mark, plant, swap
from evaluation.mutations.tree_places import LIGER, LOAD_BALANCING, MHC, RMS_NORM

WRITTEN = "        factory=_triton_load_balancing_loss_factory,"
MADE = "    from .triton import load_balancing_loss_triton\n\n    return load_balancing_loss_triton"
DEFINED = "def _triton_load_balancing_loss_factory():"
ABOVE = "KERNEL_REGISTRY.register(\n"
NORM_MADE = "    return liger_rms_norm\n"
LAMBDA = (
    "        factory=lambda: (\n"
    '            __import__("liger_kernel.transformers.rope", fromlist=["liger_rotary_pos_emb"]).liger_rotary_pos_emb\n'
    "        ),"
)
KERNEL = "def _loss(gate_logits, num_experts):\n    return gate_logits"


def _given(name: str, value: str, code: str = "", *, fault: bool = True) -> Mutation:
    """Give another value as ``factory=``, with *code* before the registration."""
    end = "  # OPS102" if fault else ""
    given = swap(LOAD_BALANCING, WRITTEN, f"        factory={value},{end}")
    return plant("OPS102", name, given, *([before(LOAD_BALANCING, ABOVE, code)] if code else []))


def _returns(name: str, body: str, head: str = DEFINED) -> Mutation:
    """Give the factory another body; its definition is a right place too where a line of the body is."""
    label = "  # OPS106:a" if "OPS106:a" in body else ""
    lines = "\n".join(f"    {line}" if line else "" for line in body.split("\n"))
    return plant("OPS106", name, swap(LOAD_BALANCING, MADE, lines), swap(LOAD_BALANCING, DEFINED, head + label))


NOT_LAZY = (
    _given("kernel of the module", "load_balancing_loss_func"),
    _given("kernel imported from another module", "load_balancing_loss_pytorch"),
    _given("kernel in front of the registration", "_loss", KERNEL),
    _given("factory called", "_triton_load_balancing_loss_factory()"),
    _given("factory called before", "_KERNEL", "_KERNEL = _triton_load_balancing_loss_factory()"),
    _given("lambda called", "(lambda: load_balancing_loss_pytorch)()"),
    _given("lambda with an argument", "lambda device: load_balancing_loss_pytorch"),
    _given("lambda with a keyword argument", "lambda *, device: load_balancing_loss_pytorch"),
    _given("lambda that is the kernel", "lambda gate_logits, num_experts, top_k, attention_mask: gate_logits"),
    _given("function with an argument", "_make", "def _make(device):\n    return load_balancing_loss_pytorch"),
    _given(
        "function with a keyword argument", "_make", "def _make(*, device):\n    return load_balancing_loss_pytorch"
    ),
    _given(
        "function with one argument too many",
        "_make",
        "def _make(device, top_k=2):\n    return load_balancing_loss_pytorch",
    ),
    _given(
        "partial without the last argument",
        "partial(_make, 'gpu')",
        "from functools import partial\n\n\ndef _make(device, top_k):\n    return load_balancing_loss_pytorch",
    ),
    _given(
        "partial without its keyword",
        "functools.partial(_make, top_k=2)",
        "import functools\n\n\ndef _make(*, device, top_k):\n    return load_balancing_loss_pytorch",
    ),
    _given("partial of the kernel", "partial(_loss, num_experts=8)", "from functools import partial\n\n\n" + KERNEL),
    _given(
        "method without its object",
        "_Kernels.make",
        "class _Kernels:\n    def make(self):\n        return load_balancing_loss_pytorch",
    ),
    _given(
        "class that needs arguments",
        "_Loss",
        "class _Loss:\n    def __init__(self, top_k):\n        self.top_k = top_k\n\n"
        "    def __call__(self, logits):\n        return logits",
    ),
    _given("library function", "torch.nn.functional.softmax"),
    _given("nothing", "None"),
    _given("entry as a string", '"veomni.ops.kernels.load_balancing_loss.triton:load_balancing_loss_triton"'),
    plant(
        "OPS102",
        "function of an eagerly imported dependency",
        after(
            LIGER, "from ..kernel_registry import", "from liger_kernel.ops.rms_norm import rms_norm_forward  # OPS101"
        ),
        swap(LIGER, "        factory=_liger_rms_norm_factory,", "        factory=rms_norm_forward,  # OPS102", nth=0),
    ),
    plant(
        "OPS102",
        "attribute of an eagerly imported dependency",
        after(LIGER, "from ..kernel_registry import", "import liger_kernel.ops.swiglu as _swiglu  # OPS101"),
        swap(
            LIGER,
            "        factory=_liger_swiglu_factory,",
            "        factory=_swiglu.LigerSiLUMulFunction.apply,  # OPS102",
        ),
    ),
    plant(
        "OPS102",
        "factory called in a loop's table",
        swap(MHC, '("pre", _mhc_pre_tile_kernels_factory,', '("pre", _mhc_pre_tile_kernels_factory(),'),
        mark(MHC, "_mhc_pre_tile_kernels_factory(),", "OPS102:a"),
        mark(MHC, "            factory=factory,", "OPS102:a"),
    ),
    plant(
        "OPS102",
        "lambda given an argument",
        swap(LIGER, "factory=lambda: (", "factory=lambda q: (  # OPS102"),
    ),
    plant(
        "OPS102",
        "factory over an eagerly imported dependency",
        after(
            LIGER, "from ..kernel_registry import", "from liger_kernel.ops.swiglu import LigerSiLUMulFunction  # OPS101"
        ),
        swap(LIGER, "    from liger_kernel.ops.swiglu import LigerSiLUMulFunction\n\n", "", nth=0),
        mark(LIGER, "def _liger_swiglu_factory", "OPS102?"),
        mark(LIGER, "        factory=_liger_swiglu_factory,", "OPS102?"),
    ),
    _given("harmless: lambda", "lambda: _triton_load_balancing_loss_factory()", fault=False),
    _given("harmless: lambda with a default", "lambda top_k=2: load_balancing_loss_pytorch", fault=False),
    _given(
        "harmless: any arguments",
        "_make",
        "def _make(*args, **kwargs):\n    return load_balancing_loss_pytorch",
        fault=False,
    ),
    _given(
        "harmless: partial with all arguments",
        "partial(_make, 'gpu', top_k=2)",
        "from functools import partial\n\n\ndef _make(device, top_k):\n    return load_balancing_loss_pytorch",
        fault=False,
    ),
    _given(
        "harmless: static method",
        "_Kernels.make",
        "class _Kernels:\n    @staticmethod\n    def make():\n        return load_balancing_loss_pytorch",
        fault=False,
    ),
    _given(
        "harmless: bound method",
        "_kernels.make",
        "class _Kernels:\n    def make(self):\n        return load_balancing_loss_pytorch\n\n\n_kernels = _Kernels()",
        fault=False,
    ),
    _given(
        "harmless: factory made by a function",
        "_factory_for('triton')",
        "def _factory_for(name):\n    def factory():\n        return load_balancing_loss_pytorch\n\n    return factory",
        fault=False,
    ),
    _given(
        "harmless: another name for the factory",
        "_make",
        "_make = _triton_load_balancing_loss_factory",
        fault=False,
    ),
)

NO_KERNEL = (
    _returns("return forgotten", "from .triton import load_balancing_loss_triton  # OPS106:a"),
    _returns("returns None", "return None  # OPS106:a"),
    _returns("bare return", "return  # OPS106:a"),
    _returns("only a docstring", '"""Return the fused kernel."""  # OPS106:a'),
    _returns(
        "returns on one path only",
        f"if torch.compiler.is_compiling():  # OPS106:a\n{MADE}",
    ),
    _returns(
        "None on one path",
        "if not torch.compiler.is_compiling():\n    return None  # OPS106:a\n" + MADE.replace("\n    ", "\n").strip(),
    ),
    _returns(
        "error passed over",
        f"try:  # OPS106:a\n{MADE}\nexcept ImportError:\n    pass",
    ),
    _returns(
        "error answered with None",
        "try:\n    from .triton import load_balancing_loss_triton\nexcept ImportError:\n    return None  # OPS106:a\n"
        "return load_balancing_loss_triton",
    ),
    _returns("returns its name", 'return "load_balancing_loss_triton"  # OPS106:a'),
    _returns("returns a number", "return 0  # OPS106:a"),
    _returns(
        "returns a tuple",
        "from .triton import load_balancing_loss_triton\n\nreturn load_balancing_loss_triton, 2  # OPS106:a",
    ),
    _returns(
        "returns a dictionary",
        "from .triton import load_balancing_loss_triton\n\nreturn {'kernel': load_balancing_loss_triton}  # OPS106:a",
    ),
    _returns(
        "returns a list",
        "from .triton import load_balancing_loss_triton\n\nreturn [load_balancing_loss_triton]  # OPS106:a",
    ),
    _returns("returns its module", "from . import triton\n\nreturn triton  # OPS106:a"),
    _returns("returns in a loop that may not run", "for kernel in []:  # OPS106:a\n    return kernel"),
    _returns(
        "yields", "from .triton import load_balancing_loss_triton\n\nyield load_balancing_loss_triton  # OPS106:a"
    ),
    _returns(
        "coroutine",
        "from .triton import load_balancing_loss_triton\n\nreturn load_balancing_loss_triton  # OPS106:a",
        "async " + DEFINED,
    ),
    plant(
        "OPS106",
        "inner kernel not returned",
        swap(LIGER, NORM_MADE, ""),
        mark(LIGER, "def _liger_rms_norm_factory", "OPS106:a"),
        mark(LIGER, "    def liger_rms_norm(", "OPS106:a"),
    ),
    plant("OPS106", "lambda that returns None", swap(LIGER, LAMBDA, "        factory=lambda: None,  # OPS106")),
    plant(
        "OPS106",
        "lambda that returns a string",
        swap(LIGER, LAMBDA, '        factory=lambda: "liger_rotary_pos_emb",  # OPS106'),
    ),
    plant(
        "OPS106",
        "kernel bound to a name and not returned",
        swap(
            RMS_NORM,
            "    return standard_rms_norm_forward_npu",
            "    kernel = standard_rms_norm_forward_npu  # OPS106:a",
        ),
        mark(RMS_NORM, "def _npu_standard_rms_norm_factory", "OPS106:a"),
    ),
    _returns("harmless: raises instead", "raise NotImplementedError('no kernel yet')"),
    _returns(
        "harmless: raises on the other path",
        f"if torch.compiler.is_compiling():\n{MADE}\nraise RuntimeError('not compiled')",
    ),
    _returns("harmless: returns a class", "class Loss:\n    pass\n\nreturn Loss"),
    _returns(
        "harmless: returns a call's result",
        "from .triton import load_balancing_loss_triton\n\nreturn torch.compile(load_balancing_loss_triton)",
    ),
    _returns(
        "harmless: returns an attribute",
        "import veomni\n\nreturn veomni.ops.kernels.load_balancing_loss.triton.load_balancing_loss_triton",
    ),
    _returns("harmless: returns a lambda", "return lambda *args: 0"),
)

MUTATIONS = NOT_LAZY + NO_KERNEL
