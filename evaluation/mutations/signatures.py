"""OPS307 and OPS308: calls that do not bind to what they reach, and results that are not unpacked as they come."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, mark, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    HELPER,
    KERNELS,
    LLAMA_CONFIG,
    MODELS,
    MOE,
    QWEN3_GPU,
    QWEN3_NPU,
    RMS_NORM_NPU,
)

NORM = "veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)"
ROTARY = "apply_rotary_pos_emb(query_states, key_states, cos, sin)"
CROSS_ENTROPY = KERNELS + "cross_entropy/__init__.py"
QWEN3_5_NPU = MODELS + "qwen3_5/generated/patched_modeling_qwen3_5_npu.py"
OWN = "def two(a, b=1, *, c=2):\n    return a, b\n\n\n"


def _call(name: str, old: str, new: str, path: str = QWEN3_GPU) -> Mutation:
    return plant("OPS307", name, swap(path, old, new))


def _own(rule: str, name: str, body: str) -> Mutation:
    """Add a function and a call of it."""
    return plant(rule, name, append(MOE, OWN + body))


def _unpacked(name: str, old: str, new: str, path: str = QWEN3_GPU) -> Mutation:
    return plant("OPS308", name, swap(path, old, new))


MUTATIONS = (
    _call("argument of a slot left out", NORM, "veomni_rms_norm(hidden_states, self.weight)  # OPS307"),
    _call(
        "argument of a slot left out on the NPU",
        NORM,
        "veomni_rms_norm(hidden_states, self.weight)  # OPS307",
        QWEN3_NPU,
    ),
    _call("one argument more", NORM, NORM.replace(")", ", 0.0)  # OPS307")),
    _call(
        "keyword of no kernel",
        NORM,
        NORM.replace("self.variance_epsilon", "epsilon=self.variance_epsilon") + "  # OPS307",
    ),
    _call(
        "slot under a name",
        f"return {NORM}",
        f"norm = veomni_rms_norm\n            return {NORM[11:].replace(', self.variance_epsilon', '')}  # OPS307",
    ),
    _call(
        "arguments under a name",
        f"return {NORM}",
        "args = (hidden_states, self.weight)\n            return veomni_rms_norm(*args)  # OPS307",
    ),
    _call(
        "partial of a slot",
        f"return {NORM}",
        "norm = functools.partial(veomni_rms_norm.bound_kernel(), hidden_states)\n"
        "            return norm(self.weight)  # OPS307",
    ),
    _call(
        "harmless partial of a slot",
        f"return {NORM}",
        "args = (self.weight,)\n            norm = functools.partial(veomni_rms_norm.bound_kernel(), hidden_states)\n"
        "            return norm(*args, self.variance_epsilon)",
    ),
    _call(
        "kernel of an attribute under a name",
        "mixed_qkv = self.causal_conv1d_fn(\n                    x=mixed_qkv,",
        "conv = self.causal_conv1d_fn\n                mixed_qkv = conv(\n"
        "                    inputs=mixed_qkv,  # OPS307~",
        QWEN3_5_NPU,
    ),
    _call(
        "harmless kernel of an attribute under a name",
        "mixed_qkv = self.causal_conv1d_fn(\n",
        "conv = self.causal_conv1d_fn\n                mixed_qkv = conv(\n",
        QWEN3_5_NPU,
    ),
    _call("keyword of a function", ROTARY, ROTARY.replace(")", ", dim=1)  # OPS307")),
    _call("constructor", "self.mlp = Qwen3MLP(config)", "self.mlp = Qwen3MLP(config, 1)  # OPS307"),
    _call(
        "forward of a module",
        "hidden_states = self.mlp(hidden_states)",
        "hidden_states = self.mlp(hidden_states, 1)  # OPS307",
    ),
    _call("repeated argument", ROTARY, ROTARY.replace(")", ", q=query_states)  # OPS307")),
    plant(
        "OPS307",
        "kernel needs one more",
        swap(
            RMS_NORM_NPU,
            "def standard_rms_norm_forward_npu(hidden_states, weight, eps):",
            "def standard_rms_norm_forward_npu(hidden_states, weight, eps, offset):",
        ),
        mark(QWEN3_NPU, NORM, "OPS307"),
        mark_all(MODELS, r"veomni_rms_norm\(", "OPS307?"),
    ),
    plant(
        "OPS307",
        "slot in a patch",
        swap(
            LLAMA_CONFIG,
            "        return veomni_swiglu_mlp(self, x)\n",
            "        return veomni_swiglu_mlp(x)  # OPS307\n",
        ),
    ),
    _own("OPS307", "own function", "def f(x):\n    return two()  # OPS307"),
    _own("OPS307", "keyword-only by position", "def f(x):\n    return two(x, 1, 2)  # OPS307"),
    _own("OPS307", "over several lines", "def f(x):\n    return two(\n        x,\n        d=3,  # OPS307\n    )"),
    _own("OPS307", "partial", "def f(x):\n    return functools.partial(two, 1, 2)(3)  # OPS307?"),
    _own("OPS307", "written out stars", "def f(x):\n    return two(*(x, 1, 2))  # OPS307"),
    _own("OPS307", "written out names", 'def f(x):\n    return two(x, **{"b": 1, "d": 2})  # OPS307'),
    _own("OPS307", "harmless written out", 'def f(x):\n    return two(*[x], **{"b": 1, "c": 2})'),
    _own("OPS307", "harmless stars", "def f(*args, **kwargs):\n    return two(*args, **kwargs)"),
    _own("OPS307", "harmless defaults", "def f(x):\n    return two(x), two(x, 2), two(a=x, c=3)"),
    _own("OPS307", "harmless other function", "def f(two):\n    return two()"),
    _own(
        "OPS307",
        "harmless handled error",
        "def f(x):\n    try:\n        return two()\n    except TypeError:\n        return None",
    ),
    _unpacked(
        "slot to two",
        "loss, logits, fused_linear_aux = veomni_causal_lm_loss(",
        "loss, logits = veomni_causal_lm_loss(  # OPS308",
    ),
    _unpacked(
        "slot to two on the NPU",
        "loss, logits, fused_linear_aux = veomni_causal_lm_loss(",
        "loss, logits = veomni_causal_lm_loss(  # OPS308",
        QWEN3_NPU,
    ),
    _unpacked(
        "function to three",
        "query_states, key_states = apply_rotary_pos_emb(query_states, key_states, cos, sin)",
        "query_states, key_states, _ = apply_rotary_pos_emb(query_states, key_states, cos, sin)  # OPS308",
    ),
    _unpacked(
        "method to three", "hidden_states, _ = self.self_attn(", "hidden_states, _, _ = self.self_attn(  # OPS308"
    ),
    _unpacked(
        "method to one in a tuple", "hidden_states, _ = self.self_attn(", "(hidden_states,) = self.self_attn(  # OPS308"
    ),
    _own("OPS308", "own function", "def f(x):\n    a, b, c = two(x)  # OPS308\n    return c"),
    _own("OPS308", "one value", "def f(x):\n    (a,) = two(x)  # OPS308\n    return a"),
    _own("OPS308", "nested", "def f(x):\n    y, (a, b, c) = x, two(x)  # OPS308?\n    return c"),
    _own("OPS308", "in a loop", "def f(xs):\n    for x in xs:\n        a, b, c = two(x)  # OPS308\n    return c"),
    _own(
        "OPS308", "elements of a loop", "def f(xs):\n    for a, b, c in [two(x) for x in xs]:  # OPS308\n        pass"
    ),
    _own("OPS308", "branch", "def f(x):\n    a, b, c = x if x else two(x)  # OPS308\n    return c"),
    _own("OPS308", "harmless elements of a loop", "def f(xs):\n    return [a for a, b in (two(x) for x in xs)]"),
    _own("OPS308", "harmless branches", "def f(x):\n    a, b = two(x) if x else (x, x)\n    return b"),
    _unpacked(
        "slot under a name",
        "                loss, logits, fused_linear_aux = veomni_causal_lm_loss(",
        "                fused = veomni_causal_lm_loss\n                loss, logits = fused(  # OPS308",
    ),
    _own("OPS308", "too few for a star", "def f(x):\n    a, b, c, *d = two(x)  # OPS308\n    return d"),
    _own("OPS308", "later", "def f(x):\n    out = two(x)\n    x = x + 1\n    a, b, c = out  # OPS308\n    return c"),
    _own(
        "OPS308", "harmless later", "def f(x):\n    out = two(x)\n    out = (*out, x)\n    a, b, c = out\n    return c"
    ),
    _own("OPS308", "harmless star", "def f(x):\n    a, *b = two(x)\n    return b"),
    _own("OPS308", "harmless one name", "def f(x):\n    a = two(x)\n    return a"),
    _own("OPS308", "harmless two", "def f(x):\n    a, b = two(x)\n    return b"),
    plant(
        "OPS308",
        "harmless unknown length",
        append(HELPER, "def many(x):\n    return tuple(x)\n\n\ndef f(x):\n    a, b = many(x)\n    return a"),
    ),
)
