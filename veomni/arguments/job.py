"""The configuration of a training job, section by section, as in its YAML file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from .ops_config import OpsImplementationConfig
from .parser import check_choices


@dataclass
class ModelArguments:
    """``model``: which model, its sizes, and the implementation of its ops."""

    model_type: str
    config: dict[str, Any] = field(default_factory=dict)
    ops_implementation: OpsImplementationConfig = field(default_factory=OpsImplementationConfig)


@dataclass
class DataArguments:
    """``data``: the synthetic sequences to learn; *noise* is the share of tokens that cannot be predicted.

    Raises:
        ValueError: a number is out of range.
    """

    seq_len: int = 64
    batch_size: int = 8
    noise: float = 0.1

    def __post_init__(self) -> None:
        _check_positive(self, "batch_size")
        if self.seq_len < 2:
            raise ValueError(f"seq_len must be at least 2, not {self.seq_len}: what a token predicts is the next one")
        if not 0 <= self.noise < 1:
            raise ValueError(f"noise must be at least 0 and below 1, not {self.noise}")


@dataclass
class TrainArguments:
    """``train``: how long, how fast, and over how many ranks a sequence is cut up.

    Raises:
        ValueError: a number is out of range, a word is none of the choices, or there is nothing for ``async_ulysses``
            to do.
    """

    max_steps: int = 200
    learning_rate: float = 1e-3
    warmup_steps: int = 10
    weight_decay: float = 0.0
    aux_loss_weight: float = 0.01
    dtype: Literal["float32", "bfloat16"] = "float32"
    ulysses_size: int = 1
    async_ulysses: bool = False
    log_steps: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        _check_positive(self, "max_steps", "learning_rate", "ulysses_size", "log_steps")
        _check_not_negative(self, "warmup_steps", "weight_decay", "aux_loss_weight")
        if self.async_ulysses and self.ulysses_size == 1:
            raise ValueError("async_ulysses hides the exchange between ranks, so ulysses_size must be at least 2")


@dataclass
class VeOmniArguments:
    """A whole job."""

    model: ModelArguments
    data: DataArguments = field(default_factory=DataArguments)
    train: TrainArguments = field(default_factory=TrainArguments)


def _check_positive(section: object, *names: str) -> None:
    for name in names:
        if not 0 < getattr(section, name) < math.inf:
            raise ValueError(f"{name} must be positive, not {getattr(section, name)}")


def _check_not_negative(section: object, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(section, name) < math.inf:
            raise ValueError(f"{name} must be at least 0, not {getattr(section, name)}")
