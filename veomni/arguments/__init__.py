"""The configuration of a job as dataclasses."""

from .ops_config import OpsImplementationConfig

__all__ = ["OpsImplementationConfig"]
