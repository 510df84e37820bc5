"""OPS703: patches that a config writes anew beside callers that it takes over from another config."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, after, mark, plant, swap
from evaluation.mutations.tree_places import MODELS

QWEN3_5 = MODELS + "qwen3_5/qwen3_5_npu_patch_gen_config.py"
QWEN3_5_GPU = MODELS + "qwen3_5/qwen3_5_gpu_patch_gen_config.py"
OMNI = MODELS + "qwen3_omni_moe/qwen3_omni_moe_npu_patch_gen_config.py"
QWEN3_VL = MODELS + "qwen3_vl/qwen3_vl_npu_patch_gen_config.py"
QWEN3_VL_MOE = MODELS + "qwen3_vl_moe/qwen3_vl_moe_gpu_patch_gen_config.py"
DEEPSEEK_V3 = MODELS + "deepseek_v3/deepseek_v3_npu_patch_gen_config.py"
DEEPSEEK_V4 = MODELS + "deepseek_v4/deepseek_v4_npu_patch_gen_config.py"

VISION = (
    "def qwen3_5_vision_model_forward(self, hidden_states: torch.Tensor, grid_thw: torch.Tensor, **kwargs) "
    "-> torch.Tensor:"
)
OMNI_ROTARY = "    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor\n"
OMNI_NAME = "def apply_rotary_pos_emb_vision("
FAKE = "    def get_vision_position_ids(self, *args, **kwargs):\n        return Qwen3VLMoeModel"


def _changed(name: str, path: str, old: str, new: str, *more: Edit) -> Mutation:
    """Edit a copy that is there."""
    return plant("OPS703", name, swap(path, old, new), *more)


def _forked(name: str, path: str, target: str, replacement: str, code: str) -> Mutation:
    """Write *code* in the place of a patch that was taken over."""
    how = "override_method" if "." in target else "replace_function"
    old = f'config.{how}(\n    "{target}",\n    replacement={replacement},\n'
    return plant("OPS703", name, swap(path, old, f"{code}\n\n\n_ = dict(\n"))


MUTATIONS = (
    _changed(
        "copy takes no keywords",
        QWEN3_5,
        VISION,
        "def qwen3_5_vision_model_forward(self, hidden_states, grid_thw):  # OPS703",
    ),
    _changed(
        "parameter renamed",
        QWEN3_5,
        VISION,
        "def qwen3_5_vision_model_forward(self, hidden_states, grid, *, return_dict=None):  # OPS703",
    ),
    _changed(
        "copy needs one more",
        OMNI,
        OMNI_NAME + "\n" + OMNI_ROTARY,
        OMNI_NAME + "  # OPS703\n" + OMNI_ROTARY.replace("\n", ", unsqueeze_dim: int\n"),
    ),
    _changed(
        "copy takes one less",
        OMNI,
        OMNI_NAME + "\n" + OMNI_ROTARY,
        OMNI_NAME + "  # OPS703\n    q: torch.Tensor, k: torch.Tensor, cos_sin: torch.Tensor\n",
    ),
    _changed(
        "copy takes them by keyword",
        OMNI,
        OMNI_NAME + "\n" + OMNI_ROTARY,
        OMNI_NAME + "  # OPS703\n    q: torch.Tensor, k: torch.Tensor, *, cos: torch.Tensor, sin: torch.Tensor\n",
    ),
    _changed(
        "original and caller changed",
        QWEN3_5_GPU,
        "pixel_values, grid_thw=image_grid_thw, return_dict=True, **kwargs",
        "pixel_values, image_grid_thw, True, **kwargs",
        swap(QWEN3_5_GPU, VISION, VISION.replace("**kwargs", "return_dict=None, **kwargs")),
        mark(QWEN3_5, VISION, "OPS703"),
    ),
    _changed(
        "text model without keywords",
        QWEN3_5,
        "    **kwargs: Unpack[TransformersKwargs],\n) -> Qwen3_5ModelOutputWithPast:",
        ") -> Qwen3_5ModelOutputWithPast:",
        mark(QWEN3_5, "def qwen3_5_text_model_forward_patched(", "OPS703"),
    ),
    _changed(
        "helper class with another constructor",
        QWEN3_VL_MOE,
        FAKE,
        "    def __init__(self):\n        super().__init__()\n\n" + FAKE,
        mark(QWEN3_VL_MOE, "class _Qwen3VLMoeFakeForPosID(SimpleNamespace):", "OPS703"),
    ),
    _forked(
        "new copy of a function",
        QWEN3_VL,
        "apply_rotary_pos_emb_vision",
        "apply_rotary_pos_emb_vision_patched",
        """
@config.replace_function("apply_rotary_pos_emb_vision")
def apply_rotary_pos_emb_vision_npu(q, k, freqs):  # OPS703
    return q, k
""".strip(),
    ),
    _forked(
        "new copy of a block",
        QWEN3_VL,
        "Qwen3VLVisionAttention.forward",
        "qwen3_vl_vision_attention_forward_patched",
        """
@config.override_method("Qwen3VLVisionAttention.forward")
def qwen3_vl_vision_attention_forward_npu(self, hidden_states, cu_seqlens, rotary_pos_emb=None):  # OPS703
    return hidden_states
""".strip(),
    ),
    _forked(
        "new copy of a norm",
        DEEPSEEK_V4,
        "DeepseekV4RMSNorm.forward",
        "deepseek_v4_rms_norm_forward_patched",
        """
@config.override_method("DeepseekV4RMSNorm.forward", description="Fused on the NPU")
def deepseek_v4_rms_norm_forward_npu(self, x, residual):  # OPS703
    return x + residual
""".strip(),
    ),
    _forked(
        "new copy of a method of self",
        QWEN3_5,
        "Qwen3_5Model.get_image_features",
        "qwen3_5_model_get_image_features",
        """
@config.override_method("Qwen3_5Model.get_image_features")
def qwen3_5_model_get_image_features_npu(self, pixel_values, image_grid_thw=None):  # OPS703
    return pixel_values
""".strip(),
    ),
    _forked(
        "new copy of an embedding",
        DEEPSEEK_V4,
        "DeepseekV4RotaryEmbedding.forward",
        "deepseek_v4_rotary_embedding_forward_patched",
        """
@config.override_method("DeepseekV4RotaryEmbedding.forward")
def deepseek_v4_rotary_embedding_forward_npu(self, x, position_ids):  # OPS703
    return x, x
""".strip(),
    ),
    _forked(
        "new copy of a router",
        DEEPSEEK_V3,
        "DeepseekV3TopkRouter.forward",
        "deepseek_v3_topk_router_forward_patched",
        """
@config.override_method("DeepseekV3TopkRouter.forward")
def deepseek_v3_topk_router_forward_npu(self, hidden_states, expert_bias):  # OPS703
    return hidden_states + expert_bias
""".strip(),
    ),
    _changed(
        "harmless parameter with a default",
        OMNI,
        OMNI_ROTARY,
        OMNI_ROTARY.replace("\n", ", unsqueeze_dim: int = -2\n"),
    ),
    _forked(
        "harmless copy that fits",
        DEEPSEEK_V3,
        "DeepseekV3TopkRouter.forward",
        "deepseek_v3_topk_router_forward_patched",
        """
@config.override_method("DeepseekV3TopkRouter.forward")
def deepseek_v3_topk_router_forward_npu(self, states, expert_bias=None):
    return states
""".strip(),
    ),
    _forked(
        "harmless copy under a decorator",
        DEEPSEEK_V3,
        "DeepseekV3TopkRouter.forward",
        "deepseek_v3_topk_router_forward_patched",
        """
@config.override_method("DeepseekV3TopkRouter.forward")
@with_expert_bias
def deepseek_v3_topk_router_forward_npu(self, hidden_states, expert_bias):
    return hidden_states + expert_bias
""".strip(),
    ),
    plant(
        "OPS703",
        "harmless copy without callers",
        after(
            DEEPSEEK_V3,
            "    return rms_norm_forward_npu(self, hidden_states)",
            '\n\n@config.override_method("DeepseekV3Attention.forward")\n'
            "def deepseek_v3_attention_forward_npu(self, states):\n    return states",
        ),
    ),
)
