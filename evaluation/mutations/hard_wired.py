"""OPS704: generated models that run a kernel whatever the configuration selects."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, before, mark, plant, swap
from evaluation.mutations.tree_places import DEEPSEEK_V4_GPU, LLAMA_GPU, MODELS, QWEN3_CONFIG, QWEN3_GPU, QWEN3_NPU

QWEN3_5_GPU = MODELS + "qwen3_5/generated/patched_modeling_qwen3_5_gpu.py"
QWEN3_MOE_GPU = MODELS + "qwen3_moe/generated/patched_modeling_qwen3_moe_gpu.py"

NORM = """        if veomni_rms_norm.use_non_eager_impl:
            return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
"""
SWIGLU = """        if veomni_swiglu_mlp.use_non_eager_impl:
            return veomni_swiglu_mlp(self, x)
"""
ROTARY = """    if veomni_apply_rotary_pos_emb.use_non_eager_impl:
        return veomni_apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=unsqueeze_dim)
"""
ROTATE = "def rotate_half(x):\n"
NN = "from torch import nn\n"


def _inside(name: str, old: str, new: str, path: str = QWEN3_GPU) -> Mutation:
    """Put a kernel where a slot was asked."""
    return plant("OPS704", name, swap(path, old, new))


def _function(name: str, code: str, path: str = QWEN3_NPU, *more: Edit) -> Mutation:
    """Add a function or class that runs a kernel."""
    return plant("OPS704", name, before(path, ROTATE, code + "\n\n"), *more)


MUTATIONS = (
    _inside(
        "norm in the place of the slot",
        NORM,
        "        from liger_kernel.ops.rms_norm import LigerRMSNormFunction  # OPS704\n\n"
        "        return LigerRMSNormFunction.apply(hidden_states, self.weight, self.variance_epsilon)\n",
    ),
    _inside(
        "swiglu in the place of the slot",
        SWIGLU,
        "        from liger_kernel.ops.swiglu import LigerSiLUMulFunction  # OPS704\n\n"
        "        return self.down_proj(LigerSiLUMulFunction.apply(self.gate_proj(x), self.up_proj(x)))\n",
        LLAMA_GPU,
    ),
    _inside(
        "rotary embedding in the place of the slot",
        ROTARY,
        "    from liger_kernel.transformers.rope import liger_rotary_pos_emb  # OPS704\n\n"
        "    return liger_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=unsqueeze_dim)\n",
        LLAMA_GPU,
    ),
    _inside(
        "attribute of an NPU package",
        NORM,
        "        import torch_npu\n\n"
        "        return torch_npu.npu_rms_norm(hidden_states, self.weight, self.variance_epsilon)[0]  # OPS704\n",
        QWEN3_NPU,
    ),
    _inside(
        "kernel of the ops package",
        ROTARY,
        "    from veomni.ops.kernels.rotary.npu import apply_rotary_pos_emb_npu  # OPS704\n\n"
        "    return apply_rotary_pos_emb_npu(q, k, cos, sin, unsqueeze_dim=unsqueeze_dim)\n",
        QWEN3_NPU,
    ),
    _inside(
        "kernel of the ops package under another name",
        NORM,
        "        from veomni.ops.kernels.rms_norm.npu import standard_rms_norm_forward_npu as fast  # OPS704\n\n"
        "        return fast(hidden_states, self.weight, self.variance_epsilon)\n",
        QWEN3_NPU,
    ),
    _inside(
        "imported at the top of the file",
        NN,
        NN + "from torch_npu import npu_rms_norm  # OPS704\n"
        "\n\nclass Qwen3FastRMSNorm(nn.Module):\n"
        "    def forward(self, hidden_states):\n"
        "        return npu_rms_norm(hidden_states, self.weight)[0]\n",
        QWEN3_NPU,
    ),
    _function(
        "function with a package at the top",
        """
import torch_npu


def fast_rotary(q, cos, sin):
    return torch_npu.npu_rotary_mul(q, cos, sin)  # OPS704
""",
    ),
    _function(
        "relative import",
        """
def fast_rotary(q, k, cos, sin):
    from .....ops.kernels.rotary.npu import apply_rotary_pos_emb_npu  # OPS704

    return apply_rotary_pos_emb_npu(q, k, cos, sin)
""",
    ),
    plant(
        "OPS704",
        "slot taken out of a condition",
        swap(DEEPSEEK_V4_GPU, "if veomni_swiglu_mlp.use_non_eager_impl:", "if True:"),
        mark(DEEPSEEK_V4_GPU, "from liger_kernel.ops.swiglu import LigerSiLUMulFunction", "OPS704"),
    ),
    plant(
        "OPS704",
        "class replaced in the config",
        before(
            QWEN3_CONFIG,
            '@config.override_method(\n    "Qwen3ForCausalLM.forward"',
            """
from veomni.patchgen.patch_spec import create_patch_from_external

config.patches.append(
    create_patch_from_external(
        target="Qwen3MLP",
        replacement_module="liger_kernel.transformers.swiglu",  # OPS704
        replacement_name="LigerSwiGLUMLP",
    )
)
""",
        ),
        swap(QWEN3_GPU, NN, NN + "from liger_kernel.transformers.swiglu import LigerSwiGLUMLP as Qwen3MLP  # OPS101\n"),
    ),
    _function(
        "gated delta rule",
        """
def run_gated_delta_rule(q, k, v):
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule  # OPS704

    return chunk_gated_delta_rule(q, k, v)
""",
        QWEN3_5_GPU,
    ),
    _function(
        "loss",
        """
def fused_load_balancing_loss(gates):
    from veomni.ops.kernels.load_balancing_loss.triton import load_balancing_loss_triton  # OPS704

    return load_balancing_loss_triton(gates)
""",
        QWEN3_MOE_GPU,
    ),
    _inside(
        "harmless beside the slot",
        NORM,
        NORM + "        if self.training:\n"
        "            from liger_kernel.ops.rms_norm import LigerRMSNormFunction\n\n"
        "            return LigerRMSNormFunction.apply(hidden_states, self.weight, self.variance_epsilon)\n",
    ),
    _function(
        "harmless where the config decides",
        """
def fast_rotary(config, q, k, cos, sin):
    if config.rotary_pos_emb_implementation == "npu":
        from veomni.ops.kernels.rotary.npu import apply_rotary_pos_emb_npu

        return apply_rotary_pos_emb_npu(q, k, cos, sin)
    return q, k
""",
    ),
    _function(
        "harmless dispatcher",
        """
def fast_experts(x):
    from veomni.ops import fused_moe_forward

    return fused_moe_forward(*x)
""",
    ),
    _function(
        "harmless kernel of no field",
        """
def pack(q, k, v):
    from flash_attn import flash_attn_func

    return flash_attn_func(q, k, v)
""",
    ),
    _function(
        "harmless other use of the package",
        """
def fast_format(x):
    import torch_npu

    return torch_npu.npu_format_cast(x, 29)
""",
    ),
)
