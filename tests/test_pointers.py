"""Function pointers: what rebinds them, what calls them."""

from __future__ import annotations

from pathlib import Path

from support.models import model_of

MOE = """\
_fused_moe_forward = None
_state = None
_original = None


def fused_moe_forward(x):
    if _fused_moe_forward is None:
        raise NotImplementedError("global _state")
    return _fused_moe_forward(x)


def apply_fused_moe_patch(kernel):
    global _fused_moe_forward, _state
    if kernel == "triton":
        from .triton import moe as _fused_moe_forward
    _state = kernel


def bind_again(kernel):
\tglobal _fused_moe_forward  # the same pointer
\t_fused_moe_forward = kernel


def _patch():
    global _original
    _original = fused_moe_forward


def call_original(x):
    return _original(x)


def apply_nothing():
    global _original
    return _original
"""
LOSS = """\
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from .eager import loss_eager

_loss = loss_eager


def loss(logits):
    return _loss(logits)


register_op(
    OpSpec(
        name="loss",
        config_field="loss_implementation",
        label="Loss",
        scope=OpScope.GLOBAL,
        default="eager",
        backends={"eager": BackendSpec(entry="veomni.ops.kernels.loss.eager:loss_eager")},
        global_slot="veomni.ops.kernels.loss:_loss",
    )
)
"""


def test_pointers(tmp_path: Path) -> None:
    """A name that functions called apply or bind rebind and others call, and the slot of an OpSpec; no mere state."""
    files = {
        "veomni/ops/kernels/moe/__init__.py": MOE,
        "veomni/ops/kernels/loss/__init__.py": LOSS,
        "veomni/ops/kernels/loss/eager.py": "def loss_eager(logits):\n    return logits\n",
    }
    found = [
        (
            pointer.module,
            pointer.name,
            pointer.op,
            pointer.place.line,
            [(one.name, one.place.line) for one in pointer.apply],
            [(one.name, one.place.line) for one in pointer.public],
        )
        for pointer in model_of(tmp_path, files).pointers
    ]
    assert found == [
        ("veomni.ops.kernels.loss", "_loss", "loss", 4, [], [("loss", 7)]),
        (
            "veomni.ops.kernels.moe",
            "_fused_moe_forward",
            "",
            1,
            [("apply_fused_moe_patch", 12), ("bind_again", 19)],
            [("fused_moe_forward", 6)],
        ),
    ]


def test_no_pointers(tmp_path: Path) -> None:
    """A tree without any."""
    assert model_of(tmp_path, {}).pointers == ()
