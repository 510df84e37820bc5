"""Which implementation of each op a job uses, and what of it an Ascend NPU can run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from ..utils.import_utils import is_torch_npu_available
from ..utils.logging import get_logger

logger = get_logger(__name__)

_NPU_ALLOWED: dict[str, frozenset[str]] = {
    "rms_norm_implementation": frozenset({"npu"}),
    "rotary_pos_emb_implementation": frozenset({"npu"}),
    "swiglu_mlp_implementation": frozenset(),
}
"""What may be selected on an NPU beside ``eager``."""

_NPU_REQUIRED: dict[str, frozenset[str]] = {
    "rms_norm_implementation": frozenset({"npu"}),
    "rotary_pos_emb_implementation": frozenset({"npu"}),
}
"""What may be selected on an NPU only."""

_NPU_DEFAULT_FALLBACK: dict[str, str] = {
    "rms_norm_implementation": "npu",
    "rotary_pos_emb_implementation": "npu",
    "swiglu_mlp_implementation": "eager",
}
"""What an NPU uses in place of a default that was made for GPUs."""


@dataclass
class OpsImplementationConfig:
    """One field per op. The defaults suit an NVIDIA GPU; on a CPU select ``eager``.

    Raises:
        ValueError: a selection cannot work on the hardware of this process.
    """

    rms_norm_implementation: Literal["eager", "liger_kernel", "npu"] = field(default="liger_kernel")
    rotary_pos_emb_implementation: Literal["eager", "liger_kernel", "npu"] = field(default="liger_kernel")
    swiglu_mlp_implementation: Literal["eager", "liger_kernel"] = field(default="liger_kernel")

    def __post_init__(self) -> None:
        if is_torch_npu_available():
            self._use_npu_defaults()
        self._validate()

    def _use_npu_defaults(self) -> None:
        for item in fields(self):
            fallback = _NPU_DEFAULT_FALLBACK.get(item.name)
            if fallback is not None and getattr(self, item.name) == item.default:
                logger.info("%s: %s instead of the GPU default %s", item.name, fallback, item.default)
                setattr(self, item.name, fallback)

    def _validate(self) -> None:
        on_npu = is_torch_npu_available()
        for name, allowed in _NPU_ALLOWED.items():
            value = getattr(self, name)
            if value == "eager":
                continue
            if on_npu and value not in allowed:
                choices = ", ".join(sorted(allowed | {"eager"}))
                raise ValueError(f"{name}={value!r} cannot run on an NPU; choose {choices}")
            if not on_npu and value in _NPU_REQUIRED.get(name, frozenset()):
                raise ValueError(f"{name}={value!r} needs an NPU, and this machine has none")
