"""The configuration of a training job, section by section, as in its YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .ops_config import OpsImplementationConfig


@dataclass
class ModelArguments:
    """``model``: which model, its sizes, and the implementation of its ops."""

    model_type: str
    config: dict[str, Any] = field(default_factory=dict)
    ops_implementation: OpsImplementationConfig = field(default_factory=OpsImplementationConfig)


@dataclass
class DataArguments:
    """``data``: the synthetic sequences to learn.

    Raises:
        ValueError: a size is not positive.
    """

    seq_len: int = 64
    batch_size: int = 8
    period: int = 7

    def __post_init__(self) -> None:
        _check_positive(self, "seq_len", "batch_size", "period")


@dataclass
class TrainArguments:
    """``train``: how long and how fast.

    Raises:
        ValueError: a number is not positive.
    """

    max_steps: int = 200
    learning_rate: float = 1e-3
    warmup_steps: int = 10
    weight_decay: float = 0.0
    aux_loss_weight: float = 0.01
    ulysses_size: int = 1
    log_steps: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        _check_positive(self, "max_steps", "learning_rate", "ulysses_size", "log_steps")


@dataclass
class VeOmniArguments:
    """A whole job."""

    model: ModelArguments
    data: DataArguments = field(default_factory=DataArguments)
    train: TrainArguments = field(default_factory=TrainArguments)


def _check_positive(section: object, *names: str) -> None:
    for name in names:
        if getattr(section, name) <= 0:
            raise ValueError(f"{name} must be positive, not {getattr(section, name)}")
