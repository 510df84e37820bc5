"""Compiles every Triton kernel for Hopper on a machine without a GPU: what the interpreter accepts may not compile.

Run as a program. Prints each kernel that was compiled, and how many bytes of machine code it became.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from veomni.ops.kernels import triton_support

_SHARED_MEMORY = 227 * 1024
"""What one program may use on Hopper."""

_sizes: dict[str, int] = {}
_run = JITFunction.run


class Hopper:
    """What the compiler asks of a driver."""

    def get_current_target(self) -> GPUTarget:
        """The GPU to compile for."""
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def get_current_stream(self, _: int) -> int:
        """Nothing is launched."""
        return 0


def compile_only(kernel: JITFunction[Any], *arguments: Any, **options: Any) -> Any:
    """In place of ``JITFunction.run``: compile for the arguments of a call and launch nothing."""
    result = _run(kernel, *arguments, **{**options, "warmup": True})
    name = f"{kernel.fn.__module__}.{kernel.fn.__name__}"
    if result.metadata.shared > _SHARED_MEMORY:
        raise RuntimeError(f"{name} needs {result.metadata.shared} bytes of shared memory, Hopper has {_SHARED_MEMORY}")
    _sizes[name] = _sizes.get(name, 0) + len(result.asm["cubin"])
    return result


def main() -> None:
    """Compile every kernel for each dtype that it is made for."""
    driver.set_active(Hopper())
    JITFunction.run = compile_only
    triton_support.check_device = lambda *_: None
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        _sizes.clear()
        compile_all(dtype)
        sys.stdout.writelines(f"{dtype} {name} {size}\n" for name, size in sorted(_sizes.items()))


def compile_all(dtype: torch.dtype) -> None:
    """Call every kernel with tensors of *dtype*, which are on no GPU and stay untouched."""
    from veomni.ops.batch_invariant_ops import triton as batch_invariant
    from veomni.ops.kernels.cross_entropy import triton as cross_entropy
    from veomni.ops.kernels.deepseek_v4 import triton_attention, triton_indexer
    from veomni.ops.kernels.load_balancing_loss import triton as load_balancing_loss
    from veomni.ops.kernels.moe import triton_gemm, triton_rows
    from veomni.ops.kernels.moe.routing import route
    from veomni.ops.kernels.rms_norm import triton as rms_norm
    from veomni.ops.kernels.rotary import triton as rotary
    from veomni.ops.kernels.rotary import triton_angles, triton_wan
    from veomni.ops.kernels.swiglu import triton as swiglu

    def zeros(*shape: int) -> torch.Tensor:
        return torch.zeros(*shape, dtype=dtype).requires_grad_()

    one, many = torch.ones(()), torch.zeros(8, dtype=torch.long)
    forward_and_backward(rms_norm.rms_norm_triton(zeros(8, 4096), zeros(4096), 1e-6))
    q, k = zeros(1, 8, 16, 128), zeros(1, 2, 16, 128)
    forward_and_backward(rotary.rotary_pos_emb_triton(q, k, zeros(1, 16, 64), zeros(1, 16, 64)))
    freqs = torch.zeros(16, 1, 64, dtype=torch.complex128)
    forward_and_backward(triton_wan.rope_apply_wan_triton(zeros(1, 16, 1536), freqs, 12))
    triton_angles.rotary_angles_triton(torch.zeros(64), many[None], 1.0)
    forward_and_backward(swiglu.silu_mul_triton(zeros(8, 1024), zeros(8, 1024)))
    cross_entropy.loss_to_gradient_triton_(zeros(8, 32_000).detach(), many, one)
    cross_entropy.scale_unless_one_(zeros(9000).detach(), one)
    forward_and_backward(load_balancing_loss.load_balancing_loss_triton((zeros(64, 128),), 128, 8, torch.ones(1, 64)))
    routing = route(torch.randint(16, (32, 4)), 16)
    rows = zeros(128, 256)
    triton_gemm.rows_product(rows, zeros(16, 512, 256).transpose(1, 2), routing)
    triton_gemm.weights_product(rows, zeros(128, 512), routing)
    activation = triton_rows.weighted_activation_triton
    forward_and_backward(activation(zeros(128, 512), zeros(128), 7.0, 1.7, interleaved=True))
    forward_and_backward(activation(zeros(128, 512), zeros(128), None, None, interleaved=False))
    triton_rows.combine_rows_triton(rows, routing)
    picked = torch.zeros(1, 4, 64, dtype=torch.long)
    attend = triton_attention.sparse_attention_with_sink_triton
    forward_and_backward(attend(zeros(1, 4, 64, 512), zeros(1, 100, 512), zeros(64), picked, 0.1))
    scores, _ = triton_indexer.lightning_indexer_triton(
        zeros(1, 100, 64, 128), zeros(1, 100, 128), zeros(1, 100, 64), 8
    )
    forward_and_backward(scores)
    batch_invariant.matmul(*(zeros(1, 64, 64) for _ in range(4)), 0.5, 2.0)
    # Sizes and strides of one are constants for Triton.
    batch_invariant.matmul(zeros(1, 1, 64), zeros(1, 64, 1), zeros(1, 1, 1), zeros(1, 1, 1))
    batch_invariant.log_softmax_rows(zeros(4, 5000).detach(), torch.float32)
    batch_invariant.mean_rows(zeros(4, 5000).detach(), torch.float32)


def forward_and_backward(output: Any) -> None:
    """Call backward too, as its kernels are compiled when they are called."""
    outputs = list(output) if isinstance(output, tuple) else [output]
    torch.autograd.backward(outputs, [torch.zeros_like(x) for x in outputs])


if __name__ == "__main__":
    main()
