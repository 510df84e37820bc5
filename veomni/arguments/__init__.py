"""The configuration of a job as dataclasses, and how it is read."""

from .job import DataArguments, ModelArguments, TrainArguments, VeOmniArguments
from .ops_config import OpsImplementationConfig
from .parser import ArgumentsError, build_arguments, load_arguments

__all__ = [
    "ArgumentsError",
    "DataArguments",
    "ModelArguments",
    "OpsImplementationConfig",
    "TrainArguments",
    "VeOmniArguments",
    "build_arguments",
    "load_arguments",
]
