"""OPS404 and OPS405: ops and pointers that are not listed, and pointers called unchecked."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, append, create, mark, plant, swap
from evaluation.mutations.tree_places import OPS_INIT, RMS_NORM

MOE = "veomni/ops/kernels/moe/__init__.py"
LORA = "veomni/lora/ops/__init__.py"
MOE_CHECK = """    if _fused_moe_forward is None:
        raise NotImplementedError("No fused MoE kernel is available. Please check your environment.")
"""
MOE_CALL = "    return _fused_moe_forward("
NEW_OP = """
_soft_cap = None


def soft_cap(x):
    if _soft_cap is None:
        raise NotImplementedError("no kernel for soft_cap is bound")
    return _soft_cap(x)


def apply_veomni_soft_cap_patch(kernel):
    global _soft_cap
    _soft_cap = kernel
"""


def _unchecked(name: str, path: str, old: str, new: str, *more: Edit) -> Mutation:
    return plant("OPS405", name, swap(path, old, new), *more)


MUTATIONS = (
    plant(
        "OPS404",
        "moe pointer taken from the list",
        swap(
            OPS_INIT,
            '    return [\n        ("_fused_moe_forward", moe._fused_moe_forward),\n',
            "    return [  # OPS404\n",
        ),
    ),
    plant(
        "OPS404",
        "loss pointer taken from the list",
        swap(OPS_INIT, '        ("_load_balancing_loss", load_balancing_loss._load_balancing_loss),\n', ""),
        mark(OPS_INIT, "    return [", "OPS404"),
    ),
    plant(
        "OPS404",
        "list with the wrong attribute",
        swap(
            OPS_INIT, '("_fused_moe_forward", moe._fused_moe_forward)', '("_fused_moe_forward", moe.fused_moe_forward)'
        ),
        mark(OPS_INIT, "    return [", "OPS404"),
    ),
    plant(
        "OPS404",
        "moe op not exported",
        swap(OPS_INIT, '__all__ = [\n    "fused_moe_forward",\n', "__all__ = [  # OPS404\n"),
    ),
    plant(
        "OPS404",
        "loss op not exported",
        swap(OPS_INIT, '    "load_balancing_loss_func",\n', ""),
        mark(OPS_INIT, "__all__ = [", "OPS404"),
    ),
    plant(
        "OPS404",
        "new op",
        create(
            "veomni/ops/kernels/soft_cap/__init__.py",
            NEW_OP.replace("_soft_cap = None", "_soft_cap = None  # OPS404", 1),
        ),
    ),
    plant(
        "OPS404",
        "new op in a file",
        append(RMS_NORM, NEW_OP.replace("_soft_cap = None", "_soft_cap = None  # OPS404", 1)),
    ),
    plant(
        "OPS404",
        "new op that is only listed",
        create(
            "veomni/ops/kernels/soft_cap/__init__.py",
            NEW_OP.replace("def soft_cap(x):", "def soft_cap(x):  # OPS404"),
        ),
        swap(
            OPS_INIT,
            "    return [\n",
            '    from .kernels import soft_cap\n\n    return [\n        ("_soft_cap", soft_cap._soft_cap),\n',
        ),
    ),
    plant(
        "OPS404",
        "new op that is only exported",
        create("veomni/ops/kernels/soft_cap/__init__.py", NEW_OP),
        swap(OPS_INIT, "__all__ = [\n", 'from .kernels.soft_cap import soft_cap\n\n__all__ = [\n    "soft_cap",\n'),
        mark(OPS_INIT, "    return [", "OPS404"),
    ),
    plant(
        "OPS404",
        "harmless new op that is listed and exported",
        create("veomni/ops/kernels/soft_cap/__init__.py", NEW_OP),
        swap(
            OPS_INIT,
            "    return [\n",
            '    from .kernels import soft_cap\n\n    return [\n        ("_soft_cap", soft_cap._soft_cap),\n',
        ),
        swap(OPS_INIT, "__all__ = [\n", 'from .kernels.soft_cap import soft_cap\n\n__all__ = [\n    "soft_cap",\n'),
    ),
    plant(
        "OPS404",
        "harmless export on its own",
        swap(OPS_INIT, '__all__ = [\n    "fused_moe_forward",\n', "__all__ = [\n"),
        append(OPS_INIT, '__all__ += ["fused_moe_forward"]'),
    ),
    plant(
        "OPS404",
        "harmless cache",
        append(
            RMS_NORM,
            "_capability = None\n\n\ndef capability():\n    global _capability\n"
            "    if _capability is None:\n        _capability = torch.get_num_threads()\n"
            "    return _capability",
        ),
    ),
    _unchecked("check removed", MOE, MOE_CHECK, "", mark(MOE, MOE_CALL, "OPS405")),
    _unchecked(
        "check turned round",
        MOE,
        "    if _fused_moe_forward is None:",
        "    if _fused_moe_forward is not None:",
        mark(MOE, MOE_CALL, "OPS405"),
    ),
    _unchecked(
        "check without raise",
        MOE,
        '        raise NotImplementedError("No fused MoE kernel is available. Please check your environment.")',
        '        logger.warning("No fused MoE kernel is available. Please check your environment.")',
        mark(MOE, MOE_CALL, "OPS405"),
    ),
    _unchecked(
        "check of another name",
        MOE,
        "    if _fused_moe_forward is None:",
        "    if fc1_1_weight is None:",
        mark(MOE, MOE_CALL, "OPS405"),
    ),
    _unchecked(
        "check under a condition",
        MOE,
        "    if _fused_moe_forward is None:",
        "    if num_experts > 8 and _fused_moe_forward is None:",
        mark(MOE, MOE_CALL, "OPS405"),
    ),
    _unchecked(
        "check after the call",
        MOE,
        MOE_CHECK,
        "    out = _fused_moe_forward(*routing_weights)  # OPS405\n" + MOE_CHECK,
    ),
    plant(
        "OPS405",
        "second op without a check",
        append(MOE, "def moe_again(*x):\n    return _fused_moe_forward(*x)  # OPS405"),
    ),
    plant(
        "OPS405",
        "under another name",
        append(MOE, "def moe_again(*x):\n    kernel = _fused_moe_forward\n    return kernel(*x)  # OPS405"),
    ),
    plant("OPS405", "in a lambda", append(MOE, "moe_again = lambda *x: _fused_moe_forward(*x)  # OPS405")),
    plant(
        "OPS405",
        "harmless other name",
        append(
            MOE,
            "def moe_again(x):\n    if (kernel := _fused_moe_forward) is None:\n        raise NotImplementedError\n"
            "    return kernel(x)",
        ),
    ),
    plant(
        "OPS405",
        "check of the lora op removed",
        swap(
            LORA,
            "    if _fused_lora_moe_forward is None:\n",
            "    if _fused_independent_lora_moe_forward is None:\n",
        ),
        mark(LORA, "    return _fused_lora_moe_forward(", "OPS405"),
    ),
    plant(
        "OPS405",
        "new op without a check",
        append(
            LORA,
            "_gate = None\n\n\ndef gate(x):\n    y = _gate(x)  # OPS405\n    return y\n\n\n"
            "def apply_gate(k):\n    global _gate\n    _gate = k",
        ),
    ),
    _unchecked("harmless check by truth", MOE, "    if _fused_moe_forward is None:", "    if not _fused_moe_forward:"),
    _unchecked("harmless check by assert", MOE, MOE_CHECK, "    assert _fused_moe_forward is not None\n"),
    _unchecked(
        "harmless binds when unbound",
        MOE,
        '        raise NotImplementedError("No fused MoE kernel is available. Please check your environment.")',
        "        apply_veomni_fused_moe_patch()",
    ),
    plant(
        "OPS405",
        "harmless check in a helper",
        swap(MOE, MOE_CHECK, "    _need_kernel()\n"),
        append(MOE, "def _need_kernel():\n    if _fused_moe_forward is None:\n        raise NotImplementedError"),
    ),
)
