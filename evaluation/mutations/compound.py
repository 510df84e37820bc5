"""OPS504 and OPS505: slots called inside autograd functions, and wrappers that break their contract."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, append, mark, plant, swap
from evaluation.mutations.tree_places import QWEN3_GPU, WAN_MODELING
from evaluation.mutations.wrapper_tree import COMPOUND, WRAPPERS

IMPORT = "from .op_wrappers import get_op_wrapper\n"
SLOT = IMPORT + '\nfrom ...ops.dispatch import OpSlot\n\nveomni_norm = OpSlot("rms_norm", "standard")\n'
FORWARD = "        normed, ctx.norm_saved = norm.forward(projected, norm_weight, eps)\n"
BACKWARD = "        grad, grad_norm_weight = ctx.norm.backward(grad, ctx.norm_saved)\n"
OFFSET = "        normed, ctx.saved = ctx.norm.forward(hidden, norm_weight, eps)\n"


def _called(name: str, old: str, new: str, slot: str = SLOT) -> Mutation:
    """Call a slot where the compound function used a wrapper."""
    return plant("OPS504", name, swap(COMPOUND, IMPORT, slot), swap(COMPOUND, old, new))


def _added(name: str, code: str, path: str = COMPOUND) -> Mutation:
    """Add a function of autograd to a module that has a slot."""
    return plant("OPS504", name, append(path, code))


def _broken(name: str, head: str, *edits: Edit) -> Mutation:
    """Break the wrapper class that begins with *head*; the class and its changed line are right places."""
    return plant("OPS505", name, *edits, mark(WRAPPERS, head, "OPS505:a"))


FUNCTION = "class More(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, weight):\n"
HEAD = 'from veomni.ops.dispatch import OpSlot\n\nveomni_more = OpSlot("rms_norm", "standard")\n\n\n'

CALLED = (
    _called("in forward", FORWARD, "        normed = veomni_norm(projected, norm_weight, eps)  # OPS504\n"),
    _called(
        "in backward",
        BACKWARD,
        "        grad = veomni_norm(grad, grad, 1e-6)  # OPS504\n        grad_norm_weight = None\n",
    ),
    _called("in another function", OFFSET, "        normed = veomni_norm(hidden, norm_weight, eps)  # OPS504\n"),
    _called(
        "behind its guard",
        FORWARD,
        "        normed = projected\n        if veomni_norm.use_non_eager_impl:\n"
        "            normed = veomni_norm(projected, norm_weight, eps)  # OPS504\n",
    ),
    _called(
        "by keyword",
        FORWARD,
        "        normed = veomni_norm(hidden_states=projected, weight=norm_weight, eps=eps)  # OPS504\n",
    ),
    _called(
        "in a return", "        return turned\n", "        return veomni_norm(turned, norm_weight, eps)  # OPS504\n"
    ),
    _called("as an argument", FORWARD, "        normed = F.silu(veomni_norm(projected, norm_weight, eps))  # OPS504\n"),
    _called(
        "in an inner function",
        FORWARD,
        "        def run(value):\n            return veomni_norm(value, norm_weight, eps)  # OPS504\n\n"
        "        normed = run(projected)\n",
    ),
    _called(
        "in a lambda",
        FORWARD,
        "        normed = (lambda value: veomni_norm(value, norm_weight, eps))(projected)  # OPS504\n",
    ),
    _called(
        "under another name",
        FORWARD,
        "        normed = slot(projected, norm_weight, eps)  # OPS504\n",
        SLOT + "slot = veomni_norm\n",
    ),
    _called(
        "imported from a model",
        FORWARD,
        "        normed = veomni_rms_norm(projected, norm_weight, eps)  # OPS504\n",
        IMPORT
        + "\nfrom veomni.models.transformers.qwen3.generated.patched_modeling_qwen3_gpu import veomni_rms_norm\n",
    ),
    _called(
        "by its module",
        FORWARD,
        "        normed = qwen3.veomni_rms_norm(projected, norm_weight, eps)  # OPS504\n",
        IMPORT + "\nfrom veomni.models.transformers.qwen3.generated import patched_modeling_qwen3_gpu as qwen3\n",
    ),
    _added("in a generated file", FUNCTION + "        return veomni_rms_norm(x, weight, 1e-6)  # OPS504", QWEN3_GPU),
    _added(
        "in a hand-written model",
        HEAD + FUNCTION + "        return veomni_more(x, weight, 1e-6)  # OPS504",
        WAN_MODELING,
    ),
    _added(
        "class imported by name",
        HEAD
        + "from torch.autograd import Function\n\n\n"
        + FUNCTION.replace("torch.autograd.Function", "Function")
        + "        return veomni_more(x, weight, 1e-6)  # OPS504",
    ),
    _added(
        "class by its module",
        HEAD
        + "from torch import autograd\n\n\n"
        + FUNCTION.replace("torch.autograd.Function", "autograd.Function")
        + "        return veomni_more(x, weight, 1e-6)  # OPS504",
    ),
    _added(
        "class of the project between",
        HEAD
        + "class Base(torch.autograd.Function):\n    pass\n\n\n"
        + FUNCTION.replace("torch.autograd.Function", "Base")
        + "        return veomni_more(x, weight, 1e-6)  # OPS504",
    ),
    _added(
        "harmless: outside the function",
        HEAD + FUNCTION + "        return x\n\n\ndef norm(x, weight):\n    if veomni_more.use_non_eager_impl:\n"
        "        return veomni_more(More.apply(x, weight), weight, 1e-6)\n    return x",
    ),
    _added(
        "harmless: in a module",
        HEAD + "class More(torch.nn.Module):\n    def forward(self, x, weight):\n"
        "        if veomni_more.use_non_eager_impl:\n            return veomni_more(x, weight, 1e-6)\n        return x",
    ),
    _added(
        "harmless: only asked", HEAD + FUNCTION + "        ctx.fused = veomni_more.use_non_eager_impl\n        return x"
    ),
)

HALF = "    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:\n"
NORM_RETURN = "        return output, Saved((x, weight, inverse))\n"
PLAIN_NORM = f"{NORM_RETURN}\n{HALF}        x, weight, inverse = saved.tensors\n        scaled"
PLAIN_ROTARY = "        return x * cos + torch.cat((-right, left), dim=-1) * sin, Saved((cos, sin))\n"
ASCEND_ROTARY = "        return torch_npu.npu_rotary_mul(x, cos, sin), Saved((cos, sin))\n"
DELEGATED = HALF + "        return PlainRotary().backward(grad, saved)\n"

BROKEN = (
    _broken("no backward", "class AscendRotary:", swap(WRAPPERS, DELEGATED, "")),
    _broken(
        "backward misspelt",
        "class AscendRotary:",
        swap(WRAPPERS, DELEGATED, DELEGATED.replace("backward(self", "backwards(self")),
    ),
    _broken(
        "backward only nested",
        "class AscendRotary:",
        swap(
            WRAPPERS,
            DELEGATED,
            "    class Reverse:\n        def backward(self, grad: Tensor, saved: Saved):\n            return (grad,)\n",
        ),
    ),
    _broken(
        "no forward",
        "class PlainRotary:",
        swap(
            WRAPPERS,
            "    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Saved]:\n        left",
            "    def apply(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Saved]:\n        left",
        ),
    ),
    _broken(
        "forward returns the output only",
        "class PlainRotary:",
        swap(
            WRAPPERS, PLAIN_ROTARY, "        return x * cos + torch.cat((-right, left), dim=-1) * sin + 0  # OPS505:a\n"
        ),
    ),
    _broken(
        "forward returns the bare output",
        "class PlainNorm:",
        swap(WRAPPERS, PLAIN_NORM, PLAIN_NORM.replace(NORM_RETURN, "        return output  # OPS505:a\n", 1)),
    ),
    _broken(
        "forward returns three values",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        return torch_npu.npu_rotary_mul(x, cos, sin), cos, sin  # OPS505:a\n"),
    ),
    _broken(
        "forward returns a tuple of one",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        return (torch_npu.npu_rotary_mul(x, cos, sin),)  # OPS505:a\n"),
    ),
    _broken(
        "forward returns nothing",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        torch_npu.npu_rotary_mul(x, cos, sin)  # OPS505:a\n"),
    ),
    _broken(
        "forward returns None",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        return None  # OPS505:a\n"),
    ),
    _broken(
        "forward returns a number",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        return 0  # OPS505:a\n"),
    ),
    _broken(
        "forward returns the output only for empty input",
        "class PlainNorm:",
        swap(WRAPPERS, "            return x, Saved((x, weight))\n", "            return x * 1  # OPS505:a\n"),
    ),
    _broken(
        "forward returns None for empty input",
        "class PlainNorm:",
        swap(WRAPPERS, "            return x, Saved((x, weight))\n", "            return None  # OPS505:a\n"),
    ),
    _broken(
        "forward forgets to return on one path",
        "class PlainNorm:",
        swap(
            WRAPPERS,
            "            return x, Saved((x, weight))\n        inverse",
            "            return x, Saved((x, weight))\n        if eps:\n"
            "            return x, Saved((x, weight))\n        inverse",
        ),
        swap(
            WRAPPERS,
            PLAIN_NORM,
            PLAIN_NORM.replace(
                "        return output, Saved((x, weight, inverse))\n",
                "        saved = Saved((x, weight, inverse))  # OPS505:a\n",
                1,
            ),
        ),
    ),
    _broken(
        "forward returns a dictionary",
        "class AscendRotary:",
        swap(WRAPPERS, ASCEND_ROTARY, "        return {'output': torch_npu.npu_rotary_mul(x, cos, sin)}  # OPS505:a\n"),
    ),
    _broken(
        "forward returns four values",
        "class LigerRotary:",
        swap(
            WRAPPERS,
            "        return turned, Saved((kept_cos, kept_sin))\n",
            "        return turned, kept_cos, kept_sin, None  # OPS505:a\n",
        ),
    ),
    plant(
        "OPS505",
        "builder returns a function",
        swap(WRAPPERS, "        return AscendRotary()\n", "        return _turn  # OPS505:a\n"),
        append(WRAPPERS, "def _turn(x, cos, sin):  # OPS505:a\n    return x * cos"),
        mark(WRAPPERS, "def _build_rotary(", "OPS505:a"),
        mark(WRAPPERS, "        import torch_npu\n", "OPS201?", 2),
    ),
    plant(
        "OPS505",
        "harmless: names before the return",
        swap(
            WRAPPERS,
            ASCEND_ROTARY,
            "        output = torch_npu.npu_rotary_mul(x, cos, sin)\n        result = output, Saved((cos, sin))\n"
            "        return result\n",
        ),
    ),
    plant(
        "OPS505",
        "harmless: forward of another wrapper",
        swap(WRAPPERS, ASCEND_ROTARY, "        return PlainRotary().forward(x, cos, sin)\n"),
    ),
    plant(
        "OPS505",
        "harmless: methods inherited",
        swap(WRAPPERS, "class AscendRotary:", "class AscendRotary(PlainRotary):"),
        swap(WRAPPERS, DELEGATED, ""),
    ),
    plant(
        "OPS505",
        "harmless: static methods",
        swap(WRAPPERS, DELEGATED, DELEGATED.replace("    def backward(self, ", "    @staticmethod\n    def backward(")),
    ),
    plant(
        "OPS505",
        "harmless: raises on one path",
        swap(
            WRAPPERS, "            return x, Saved((x, weight))\n", "            raise ValueError('nothing to norm')\n"
        ),
    ),
)

MUTATIONS = CALLED + BROKEN
