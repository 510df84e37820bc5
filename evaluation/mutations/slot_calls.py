"""OPS305 and OPS306: slots that are called unasked, kept, or passed on."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, create, mark, plant, swap
from evaluation.mutations.tree_places import LLAMA_CONFIG, LLAMA_GPU, QWEN3_GPU

CHECK = "        if veomni_swiglu_mlp.use_non_eager_impl:\n"
CALL = "            return veomni_swiglu_mlp(self, x)\n"
MARKED = "            return veomni_swiglu_mlp(self, x)  # OPS305\n"
CONFIG_CHECK = "    if veomni_swiglu_mlp.use_non_eager_impl:\n"
CONFIG_CALL = "        return veomni_swiglu_mlp(self, x)\n"
ACTIVATION = "        self.act_fn = ACT2FN[config.hidden_act]\n"
LOSS = "            if veomni_causal_lm_loss.use_non_eager_impl:\n                loss, logits, fused_linear_aux = "
GATED_INIT = "    self.causal_conv1d_fn = veomni_causal_conv1d.bound_kernel()\n"
QWEN3_5_CONFIG = "veomni/models/transformers/qwen3_5/qwen3_5_gpu_patch_gen_config.py"
QWEN3_5_NPU = "veomni/models/transformers/qwen3_5/generated/patched_modeling_qwen3_5_npu.py"


def _called(name: str, new: str) -> Mutation:
    """Put *new* in place of the guarded call of the MLP's slot in a generated file."""
    return plant("OPS305", name, swap(LLAMA_GPU, CHECK + CALL, new))


def _patched(name: str, new: str) -> Mutation:
    """The same in the body of a patch."""
    return plant("OPS305", name, swap(LLAMA_CONFIG, CONFIG_CHECK + CONFIG_CALL, new))


def _kept(name: str, new: str) -> Mutation:
    """Add *new* to a constructor of a generated file."""
    return plant("OPS306", name, swap(LLAMA_GPU, ACTIVATION, ACTIVATION + new))


def _decorated(name: str, slot: str, call: str, path: str = LLAMA_GPU) -> Mutation:
    """A function with a decorator of the project, which runs it if a slot that it is given holds a kernel."""
    requires = (
        "def requires(slot):\n    def decorate(fn):\n        def wrapper(*args):\n"
        "            return fn(*args) if slot.use_non_eager_impl else args[1]\n\n        return wrapper\n\n"
        "    return decorate\n"
    )
    edits = [create(path, requires)] if path != LLAMA_GPU else [append(path, requires)]
    imported = "from veomni.ops.requirements import requires\n\n\n" if path != LLAMA_GPU else ""
    function = f"@requires({slot})\ndef fused(self, x):\n{call[8:]}"
    return plant("OPS305", name, *edits, append(LLAMA_GPU, f"{imported}{function}"))


def _managed(name: str, slot: str, call: str) -> Mutation:
    """The call in a context manager of the project that refuses a slot without a kernel."""
    manager = (
        "import contextlib\n\n\n@contextlib.contextmanager\ndef needed(slot):\n"
        "    assert slot.use_non_eager_impl\n    yield\n"
    )
    edit = swap(LLAMA_GPU, CHECK + CALL, f"        with needed({slot}):\n{call}")
    return plant("OPS305", name, edit, append(LLAMA_GPU, manager))


CALLED = (
    _called("no check", "        return veomni_swiglu_mlp(self, x)  # OPS305\n"),
    _called("check of another slot", "        if veomni_rms_norm.use_non_eager_impl:\n" + MARKED),
    _called("check inverted", "        if not veomni_swiglu_mlp.use_non_eager_impl:\n" + MARKED),
    _called("only that it is bound", "        if veomni_swiglu_mlp.is_bound:\n" + MARKED),
    _called("the slot itself as check", "        if veomni_swiglu_mlp:\n" + MARKED),
    _called("only for eager", "        if veomni_swiglu_mlp.use_eager_impl:\n" + MARKED),
    _called("or something else", "        if veomni_swiglu_mlp.use_non_eager_impl or self.training:\n" + MARKED),
    _called("only while training", "        if self.training:\n" + MARKED),
    _called(
        "check that ends too early", CHECK + "            pass\n        return veomni_swiglu_mlp(self, x)  # OPS305\n"
    ),
    _called("in the other branch", CHECK + "            pass\n        else:\n" + MARKED),
    _called("another name", "        fn = veomni_swiglu_mlp\n        return fn(self, x)  # OPS305\n"),
    _called("kernel unasked", "        return veomni_swiglu_mlp.bound_kernel()(self, x)  # OPS305\n"),
    _called("dunder call", "        return veomni_swiglu_mlp.__call__(self, x)  # OPS305\n"),
    _called("in a lambda", "        run = lambda y: veomni_swiglu_mlp(self, y)  # OPS305\n        return run(x)\n"),
    _called(
        "in a nested function", "        def run(y):\n" + MARKED.replace(", x)", ", y)") + "\n        return run(x)\n"
    ),
    _called("in an argument", "        return self.down_proj(veomni_swiglu_mlp(self, x))  # OPS305\n"),
    plant(
        "OPS305",
        "check of a loss forgotten",
        swap(
            LLAMA_GPU,
            LOSS + "veomni_causal_lm_loss(",
            LOSS.replace("veomni_causal_lm_loss.use_non_eager_impl", "labels is not None")
            + "veomni_causal_lm_loss(  # OPS305",
        ),
    ),
    plant("OPS305", "in a new function", append(QWEN3_GPU, "def norm(*x):\n    return veomni_rms_norm(*x)  # OPS305")),
    _patched("in a patch", "    return veomni_swiglu_mlp(self, x)  # OPS305\n"),
    _patched(
        "in a patch that checks another slot",
        "    if veomni_rms_norm.use_non_eager_impl:\n        return veomni_swiglu_mlp(self, x)  # OPS305\n",
    ),
    _patched(
        "in a patch under another condition",
        "    if self.training:\n        return veomni_swiglu_mlp(self, x)  # OPS305\n",
    ),
    plant(
        "OPS305",
        "in a patch and its generated file",
        swap(LLAMA_CONFIG, CONFIG_CHECK, "    if veomni_swiglu_mlp.is_bound:\n"),
        mark(LLAMA_CONFIG, CONFIG_CALL.rstrip("\n"), "OPS305"),
        swap(LLAMA_GPU, CHECK, "        if veomni_swiglu_mlp.is_bound:\n"),
        mark(LLAMA_GPU, CALL.rstrip("\n"), "OPS305"),
    ),
    plant(
        "OPS305",
        "without a check in a patch and its generated file",
        swap(LLAMA_CONFIG, CONFIG_CHECK + CONFIG_CALL, "    return veomni_swiglu_mlp(self, x)  # OPS305\n"),
        swap(LLAMA_GPU, CHECK + CALL, "        return veomni_swiglu_mlp(self, x)  # OPS305\n"),
    ),
    _called(
        "case of several values",
        "        match (veomni_swiglu_mlp.use_non_eager_impl, self.training):\n"
        "            case (False, _):\n    " + MARKED,
    ),
    _called(
        "harmless case of several values",
        "        match (self.training, veomni_swiglu_mlp.use_non_eager_impl):\n"
        "            case (_, True):\n    " + CALL,
    ),
    _decorated("decorator that asks another slot", "veomni_rms_norm", MARKED),
    _decorated("harmless decorator", "veomni_swiglu_mlp", CALL),
    _decorated("harmless decorator of a module", "veomni_swiglu_mlp", CALL, "veomni/ops/requirements.py"),
    _managed("context manager that asks another slot", "veomni_rms_norm", MARKED),
    _managed("harmless context manager", "veomni_swiglu_mlp", CALL),
    plant(
        "OPS305",
        "imported by another file",
        append(
            "veomni/models/module_utils.py",
            "def fused(x):\n"
            "    from .transformers.llama.generated.patched_modeling_llama_gpu import veomni_swiglu_mlp\n\n"
            "    return veomni_swiglu_mlp(None, x)  # OPS305",
        ),
    ),
    _called(
        "harmless early return",
        "        if not veomni_swiglu_mlp.use_non_eager_impl:\n            return x\n" + CALL[4:],
    ),
    _called("harmless conjunction", "        if x is not None and veomni_swiglu_mlp.use_non_eager_impl:\n" + CALL),
    _called("harmless variable", "        fused = veomni_swiglu_mlp.use_non_eager_impl\n        if fused:\n" + CALL),
    _called(
        "harmless expression",
        "        return veomni_swiglu_mlp(self, x) if veomni_swiglu_mlp.use_non_eager_impl else x\n",
    ),
    _called(
        "harmless required op",
        "        if veomni_swiglu_mlp.use_eager_impl:\n            raise ValueError\n" + CALL[4:],
    ),
    _called("harmless kernel", "        if veomni_swiglu_mlp.bound_kernel() is not None:\n" + CALL),
    _called("harmless comment", "        if veomni_swiglu_mlp.use_non_eager_impl:  # bound\n" + CALL),
    _called("harmless without a call", CHECK + "            return x\n"),
)

KEPT = (
    _kept("in an attribute", "        self.fused = veomni_swiglu_mlp  # OPS306\n"),
    _kept("in an attribute if fused", "        self.fused = veomni_swiglu_mlp if self.training else None  # OPS306\n"),
    _kept("in an attribute or else", "        self.fused = veomni_swiglu_mlp or self.act_fn  # OPS306\n"),
    _kept("in a list", "        self.fused = [veomni_swiglu_mlp]  # OPS306\n"),
    _kept("in a dictionary", '        self.fused = {"mlp": veomni_swiglu_mlp}  # OPS306\n'),
    _kept("under another name", "        fn = veomni_swiglu_mlp\n        self.fused = fn  # OPS306\n"),
    _kept(
        "in a partial",
        "        import functools\n\n        self.fused = functools.partial(veomni_swiglu_mlp, self)  # OPS306\n",
    ),
    _kept("by setattr", '        setattr(self, "fused", veomni_swiglu_mlp)  # OPS306\n'),
    _kept("appended", "        self.fused = []\n        self.fused.append(veomni_swiglu_mlp)  # OPS306\n"),
    _kept(
        "appended to a list of its own",
        "        fns = [self.act_fn]\n        fns.append(veomni_swiglu_mlp)  # OPS306\n        self.fused = fns\n",
    ),
    _kept(
        "the method in a list",
        "        fns = []\n        fns.append(veomni_swiglu_mlp.bound_kernel)  # OPS306\n        self.fused = fns\n",
    ),
    plant(
        "OPS306",
        "given to an argument",
        append(LLAMA_GPU, "def add_to(fns):\n    fns.append(veomni_swiglu_mlp)  # OPS306"),
    ),
    plant(
        "OPS306",
        "harmless list of slots to bind",
        append(LLAMA_GPU, "def collect(slots):\n    slots.append(veomni_swiglu_mlp)"),
    ),
    _kept("the method instead of the kernel", "        self.fused = veomni_swiglu_mlp.bound_kernel  # OPS306\n"),
    _kept("its call", "        self.fused = veomni_swiglu_mlp.__call__  # OPS306\n"),
    plant("OPS306", "returned", append(LLAMA_GPU, "def mlp():\n    return veomni_swiglu_mlp  # OPS306")),
    plant("OPS306", "as a default", append(LLAMA_GPU, "def mlp(x, fn=veomni_swiglu_mlp):  # OPS306\n    return x")),
    plant("OPS306", "in a class", append(LLAMA_GPU, "class Fused:\n    fn = veomni_swiglu_mlp  # OPS306")),
    plant(
        "OPS306",
        "instead of the kernel",
        swap(
            QWEN3_5_CONFIG,
            GATED_INIT,
            GATED_INIT.replace(".bound_kernel()\n", "  # OPS306\n"),
        ),
    ),
    plant(
        "OPS306",
        "instead of the kernel in a generated file",
        swap(
            QWEN3_5_NPU,
            "veomni_chunk_gated_delta_rule.bound_kernel() or torch_chunk_gated_delta_rule\n",
            "veomni_chunk_gated_delta_rule or torch_chunk_gated_delta_rule  # OPS306\n",
        ),
    ),
    plant(
        "OPS306",
        "passed on",
        swap(
            LLAMA_GPU,
            CHECK + CALL,
            "        return torch.utils.checkpoint.checkpoint(veomni_swiglu_mlp, self, x)  # OPS306\n",
        ),
    ),
    _kept("harmless question", "        self.is_fused = veomni_swiglu_mlp.use_non_eager_impl\n"),
    _kept("harmless kernel in an attribute", "        self.fused = veomni_swiglu_mlp.bound_kernel()\n"),
    _kept("harmless log", "        logger.info(veomni_swiglu_mlp)\n"),
    _kept(
        "harmless list",
        "        for slot in (veomni_swiglu_mlp, veomni_rms_norm):\n            logger.info(slot.op_name)\n",
    ),
)

MUTATIONS = (*CALLED, *KEPT)
