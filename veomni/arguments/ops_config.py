"""Which implementation of each op a job uses, and what of it an Ascend NPU can run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args, get_type_hints

from ..utils.import_utils import is_torch_npu_available
from ..utils.logging import get_logger
from .parser import check_choices

logger = get_logger(__name__)

_NPU_ALLOWED: dict[str, frozenset[str]] = {
    "causal_conv1d_implementation": frozenset({"npu"}),
    "chunk_gated_delta_rule_implementation": frozenset({"npu"}),
    "cross_entropy_loss_implementation": frozenset({"chunk_loss"}),
    "dsa_attention_implementation": frozenset(),
    "load_balancing_loss_implementation": frozenset(),
    "mhc_implementation": frozenset(),
    "moe_implementation": frozenset({"fused_npu"}),
    "rms_norm_gated_implementation": frozenset({"npu"}),
    "rms_norm_implementation": frozenset({"npu"}),
    "rotary_pos_emb_implementation": frozenset({"npu"}),
    "swiglu_mlp_implementation": frozenset(),
    "v4_indexer_implementation": frozenset(),
    "v4_sparse_attention_implementation": frozenset(),
}
"""What may be selected on an NPU beside ``eager``."""

_NPU_REQUIRED: dict[str, frozenset[str]] = {
    "causal_conv1d_implementation": frozenset({"npu"}),
    "chunk_gated_delta_rule_implementation": frozenset({"npu"}),
    "moe_implementation": frozenset({"fused_npu"}),
    "rms_norm_gated_implementation": frozenset({"npu"}),
    "rms_norm_implementation": frozenset({"npu"}),
    "rotary_pos_emb_implementation": frozenset({"npu"}),
}
"""What may be selected on an NPU only."""

_NPU_DEFAULT_FALLBACK: dict[str, str] = {
    "causal_conv1d_implementation": "npu",
    "chunk_gated_delta_rule_implementation": "npu",
    "load_balancing_loss_implementation": "eager",
    "moe_implementation": "fused_npu",
    "rms_norm_gated_implementation": "npu",
    "rms_norm_implementation": "npu",
    "rotary_pos_emb_implementation": "npu",
    "swiglu_mlp_implementation": "eager",
    "v4_indexer_implementation": "eager",
    "v4_sparse_attention_implementation": "eager",
}
"""What an NPU uses in place of a default that was made for GPUs."""


@dataclass
class OpsImplementationConfig:
    """One field per op. The defaults suit an NVIDIA GPU; on a CPU begin with ``all_eager``.

    On an NPU a field that has such a default, given or not, becomes what ``_NPU_DEFAULT_FALLBACK`` says.

    Raises:
        ValueError: a selection is none of the choices, or cannot work on the hardware of this process.
    """

    attn_implementation: Literal["eager", "sdpa", "flash_attention_2", "flash_attention_3", "flash_attention_4"] = (
        field(default="sdpa", metadata={"help": "causal attention"})
    )
    moe_implementation: Literal["eager", "fused_triton", "fused_quack", "fused_npu"] = field(
        default="fused_triton", metadata={"help": "the experts of mixture-of-experts layers"}
    )
    cross_entropy_loss_implementation: Literal["eager", "liger_kernel", "chunk_loss"] = field(
        default="chunk_loss", metadata={"help": "the last linear layer and the loss"}
    )
    rms_norm_implementation: Literal["eager", "liger_kernel", "triton", "npu"] = field(
        default="triton", metadata={"help": "RMSNorm; triton is batch-invariant"}
    )
    rotary_pos_emb_implementation: Literal["eager", "liger_kernel", "triton", "npu"] = field(
        default="triton", metadata={"help": "rotary position embedding; triton is deterministic"}
    )
    swiglu_mlp_implementation: Literal["eager", "liger_kernel", "triton"] = field(
        default="triton", metadata={"help": "the dense SwiGLU MLP"}
    )
    load_balancing_loss_implementation: Literal["eager", "triton"] = field(
        default="triton", metadata={"help": "the auxiliary loss of mixture-of-experts models"}
    )
    rms_norm_gated_implementation: Literal["eager", "fla", "npu"] = field(
        default="fla", metadata={"help": "the gated norm of linear attention"}
    )
    causal_conv1d_implementation: Literal["eager", "fla", "npu"] = field(
        default="fla", metadata={"help": "the short convolution of linear attention"}
    )
    chunk_gated_delta_rule_implementation: Literal["eager", "fla", "npu"] = field(
        default="fla", metadata={"help": "linear attention by the gated delta rule"}
    )
    mhc_implementation: Literal["eager", "tilelang"] = field(
        default="eager", metadata={"help": "manifold-constrained hyper-connections"}
    )
    dsa_attention_implementation: Literal["eager", "flashmla"] = field(
        default="eager", metadata={"help": "attention to selected keys in latent form"}
    )
    v4_indexer_implementation: Literal["eager", "triton", "tilelang"] = field(
        default="triton", metadata={"help": "the selection of keys of DeepSeek V4"}
    )
    v4_sparse_attention_implementation: Literal["eager", "triton", "tilelang"] = field(
        default="triton", metadata={"help": "the attention to selected keys of DeepSeek V4"}
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if is_torch_npu_available():
            self._use_npu_defaults()
        self._validate()

    @classmethod
    def all_eager(cls, **selected: str) -> OpsImplementationConfig:
        """Every op in plain PyTorch, except those *selected*."""
        return cls(**{**{item.name: "eager" for item in fields(cls)}, **selected})  # type: ignore[arg-type]

    def _use_npu_defaults(self) -> None:
        for item in fields(self):
            fallback = _NPU_DEFAULT_FALLBACK.get(item.name)
            if fallback is not None and getattr(self, item.name) == item.default:
                logger.info("%s: %s instead of the GPU default %s", item.name, fallback, item.default)
                setattr(self, item.name, fallback)

    def _validate(self) -> None:
        on_npu, hints = is_torch_npu_available(), get_type_hints(type(self))
        for name, allowed in _NPU_ALLOWED.items():
            value = getattr(self, name)
            if value == "eager":
                continue
            if on_npu and value not in allowed:
                choices = ", ".join(sorted(allowed | {"eager"}))
                raise ValueError(f"{name}={value!r} cannot run on an NPU; choose {choices}")
            required = _NPU_REQUIRED.get(name, frozenset())
            if not on_npu and value in required:
                choices = ", ".join(choice for choice in get_args(hints[name]) if choice not in required)
                raise ValueError(f"{name}={value!r} needs an NPU, and this machine has none; choose {choices}")
