"""OPS104 and OPS105: registrations whose result is used, and registrations that nobody imports."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, after, append, create, mark_all, plant, swap
from evaluation.mutations.tree_places import (
    GATED_DELTA,
    KERNELS,
    KERNELS_INIT,
    LIGER,
    LOAD_BALANCING,
    MHC,
    MODELS,
    OPS_INIT,
    RMS_NORM,
    ROTARY,
)

CALL = "KERNEL_REGISTRY.register(\n    KernelSpec("
MORE = (
    'KernelSpec("cutlass", "load_balancing_loss", "standard", _triton_load_balancing_loss_factory, '
    'HardwareRequirement("gpu"))'
)
NEW_MODULE = KERNELS + "rms_norm/cutlass.py"
NEW_PACKAGE = KERNELS + "fused_norm/__init__.py"
NEW_TEXT = """
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _factory():
    return max


KERNEL_REGISTRY.register(  # OPS105~
    KernelSpec(
        name="cutlass",
        op_name="rms_norm",
        variant="standard",
        factory=_factory,
        hardware=HardwareRequirement(device_type="gpu"),
    )
)
"""
FINE_TEXT = NEW_TEXT.replace("  # OPS105~", "")


def _used(name: str, code: str) -> Mutation:
    """Add *code* below the registration of the load-balancing loss, with its spec in place of SPEC."""
    return plant("OPS104", name, append(LOAD_BALANCING, code.replace("SPEC", MORE)))


def _lost(name: str, registering: str, *edits: Edit) -> Mutation:
    """Cut off a module that registers kernels; whether its slots are spoken of too is left open."""
    marks = (
        mark_all(registering, r"KERNEL_REGISTRY\.register\(", "OPS105~:a"),
        mark_all(MODELS, r"OpSlot\(", "OPS301?"),
    )
    return plant("OPS105", name, *edits, *marks)


def _new(name: str, path: str, *edits: Edit, fault: bool = True) -> Mutation:
    """Add a module that registers a kernel, and *edits* that do or do not make the ops package import it."""
    return plant("OPS105", name, create(path, NEW_TEXT if fault else FINE_TEXT), *edits)


USED = (
    _used("decorator", "@KERNEL_REGISTRY.register  # OPS104, OPS390?\ndef cutlass_loss():\n    return max"),
    _used("decorator of a class", "@KERNEL_REGISTRY.register  # OPS104, OPS390?\nclass CutlassLoss:\n    pass"),
    _used("call as decorator", "@KERNEL_REGISTRY.register(SPEC)  # OPS104\ndef cutlass_loss():\n    return max"),
    _used(
        "decorator above another",
        "@KERNEL_REGISTRY.register  # OPS104, OPS390?\n@torch.no_grad()\ndef cutlass_loss():\n    return max",
    ),
    _used(
        "decorator below another",
        "@torch.no_grad()\n@KERNEL_REGISTRY.register  # OPS104, OPS390?\ndef cutlass_loss():\n    return max",
    ),
    _used(
        "decorator under another name",
        "_register = KERNEL_REGISTRY.register\n\n\n@_register  # OPS104, OPS390?\ndef cutlass_loss():\n    return max",
    ),
    _used(
        "decorator of an imported alias",
        "from ...kernel_registry import KERNEL_REGISTRY as R\n\n\n@R.register  # OPS104, OPS390?\n"
        "def cutlass_loss():\n    return max",
    ),
    _used(
        "decorator by module",
        "from ... import kernel_registry\n\n\n@kernel_registry.KERNEL_REGISTRY.register  # OPS104, OPS390?\n"
        "def cutlass_loss():\n    return max",
    ),
    _used(
        "decorator of a method",
        "class Losses:\n    @KERNEL_REGISTRY.register  # OPS104, OPS390?\n    def cutlass(self):\n        return max",
    ),
    plant(
        "OPS104",
        "result bound to a name",
        swap(LOAD_BALANCING, CALL, f"triton_loss = {CALL}".replace("(\n", "(  # OPS104~\n", 1)),
    ),
    _used("result with an annotation", "cutlass_loss: object = KERNEL_REGISTRY.register(SPEC)  # OPS104"),
    _used(
        "result returned",
        "def _register():\n    return KERNEL_REGISTRY.register(SPEC)  # OPS104:a\n\n\n_loss = _register()  # OPS104:a",
    ),
    _used("result in a list", "LOSSES = [KERNEL_REGISTRY.register(SPEC)]  # OPS104"),
    _used("result in a dictionary", "LOSSES = {'cutlass': KERNEL_REGISTRY.register(SPEC)}  # OPS104"),
    _used("result in a condition", "if KERNEL_REGISTRY.register(SPEC):  # OPS104\n    logger.info('registered')"),
    _used("result as an argument", "print(KERNEL_REGISTRY.register(SPEC))  # OPS104"),
    _used("attribute of the result", "NAME = KERNEL_REGISTRY.register(SPEC).name  # OPS104, OPS390?"),
    _used("result asserted", "assert KERNEL_REGISTRY.register(SPEC)  # OPS104"),
    _used(
        "result in an assignment expression",
        "if (loss := KERNEL_REGISTRY.register(SPEC)) is not None:  # OPS104\n    logger.info(loss)",
    ),
    _used("chained", "KERNEL_REGISTRY.register(SPEC).register(None)  # OPS104, OPS390?"),
    _used("result unpacked", "a, b = KERNEL_REGISTRY.register(SPEC)  # OPS104"),
    _used("harmless: statement", "KERNEL_REGISTRY.register(SPEC)"),
    _used("harmless: method under another name", "_register = KERNEL_REGISTRY.register\n_register(SPEC)"),
    _used(
        "harmless: helper without result",
        "def _register(spec):\n    KERNEL_REGISTRY.register(spec)\n\n\n_register(SPEC)",
    ),
    _used(
        "harmless: another registry",
        "class Registry:\n    def register(self, function):\n        return function\n\n\nLOSSES = Registry()\n\n\n"
        "@LOSSES.register\ndef cutlass_loss():\n    return max",
    ),
)

UNREACHED = (
    _lost("package left out", MHC, swap(KERNELS_INIT, "    mhc,\n", "")),
    _lost("another package left out", GATED_DELTA, swap(KERNELS_INIT, "    gated_delta_rule,\n", "")),
    _lost("norms left out", RMS_NORM, swap(KERNELS_INIT, "    rms_norm,\n", "")),
    _lost("rotary embeddings left out", ROTARY, swap(KERNELS_INIT, "    rotary,\n", "")),
    _lost(
        "library adapters left out", LIGER, swap(OPS_INIT, "from . import kernels, liger ", "from . import kernels ")
    ),
    _lost("commented out", MHC, swap(KERNELS_INIT, "    mhc,\n", "    # mhc,\n")),
    _lost(
        "only for type checkers",
        MHC,
        swap(KERNELS_INIT, "    mhc,\n", ""),
        append(KERNELS_INIT, "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from . import mhc"),
    ),
    _lost("never", MHC, swap(KERNELS_INIT, "    mhc,\n", ""), append(KERNELS_INIT, "if False:\n    from . import mhc")),
    _lost(
        "in a function that nobody calls",
        MHC,
        swap(KERNELS_INIT, "    mhc,\n", ""),
        append(KERNELS_INIT, "def load_mhc():\n    from . import mhc\n\n    return mhc"),
    ),
    _lost(
        "when run as a program",
        MHC,
        swap(KERNELS_INIT, "    mhc,\n", ""),
        append(KERNELS_INIT, "if __name__ == '__main__':\n    from . import mhc"),
    ),
    _lost("only exported", MHC, swap(KERNELS_INIT, "    mhc,\n", ""), append(KERNELS_INIT, "__all__ = ['mhc']")),
    _lost(
        "on attribute access",
        MHC,
        swap(KERNELS_INIT, "    mhc,\n", ""),
        append(
            KERNELS_INIT,
            "def __getattr__(name):\n    if name == 'mhc':\n        from . import mhc\n\n        return mhc\n"
            "    raise AttributeError(name)",
        ),
    ),
    _new("new module", NEW_MODULE),
    _new("new package", NEW_PACKAGE),
    _new("new module named in a comment", NEW_MODULE, append(RMS_NORM, "# from . import cutlass")),
    _new(
        "new module loaded by a factory",
        NEW_MODULE,
        after(RMS_NORM, "def _npu_standard_rms_norm_factory", "from . import cutlass", indent=4),
    ),
    _new(
        "new module imported by a model",
        NEW_MODULE,
        append(
            MODELS + "wan/modeling_wan.py",
            "def _fast():\n    from veomni.ops.kernels.rms_norm import cutlass\n\n    return cutlass",
        ),
    ),
    _new(
        "new module imported by another lost one",
        NEW_MODULE,
        create(KERNELS + "rms_norm/extra.py", "from . import cutlass"),
    ),
    _new(
        "new module imported by a test",
        NEW_MODULE,
        create("tests/ops/test_cutlass.py", "from veomni.ops.kernels.rms_norm import cutlass"),
    ),
    _new("harmless: imported", NEW_MODULE, append(RMS_NORM, "from . import cutlass"), fault=False),
    _new(
        "harmless: imported by its full name",
        NEW_PACKAGE,
        append(OPS_INIT, "import veomni.ops.kernels.fused_norm"),
        fault=False,
    ),
    _new(
        "harmless: something of it imported", NEW_MODULE, append(RMS_NORM, "from .cutlass import _factory"), fault=False
    ),
    _new(
        "harmless: imported in try",
        NEW_MODULE,
        append(RMS_NORM, "try:\n    from . import cutlass\nexcept ImportError:\n    cutlass = None"),
        fault=False,
    ),
    _new(
        "harmless: imported on one device",
        NEW_MODULE,
        append(
            RMS_NORM,
            "from ....utils.device import IS_CUDA_AVAILABLE\n\nif IS_CUDA_AVAILABLE:\n    from . import cutlass",
        ),
        fault=False,
    ),
    _new(
        "harmless: import_module",
        NEW_MODULE,
        append(RMS_NORM, 'import importlib\n\nimportlib.import_module(".cutlass", __name__)'),
        fault=False,
    ),
    _new(
        "harmless: all modules of the package imported",
        NEW_MODULE,
        append(
            RMS_NORM,
            "import importlib\nimport pkgutil\n\nfor _module in pkgutil.iter_modules(__path__):\n"
            "    if _module.name != 'npu':\n        importlib.import_module(f'{__name__}.{_module.name}')",
        ),
        fault=False,
    ),
)

MUTATIONS = USED + UNREACHED
