"""The ops configuration of this process, set once when a job starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...arguments import OpsImplementationConfig

_ops_config: OpsImplementationConfig | None = None


def set_ops_config(config: OpsImplementationConfig | None) -> None:
    """Install *config* for everything built later; None takes it away again."""
    global _ops_config
    _ops_config = config


def get_ops_config() -> OpsImplementationConfig | None:
    """The installed configuration, or None."""
    return _ops_config
