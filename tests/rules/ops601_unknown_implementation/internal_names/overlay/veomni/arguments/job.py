from dataclasses import dataclass, field

from .arguments_types import OpsImplementationConfig


@dataclass
class ModelArguments:
    model_path: str = ""
    ops_implementation: OpsImplementationConfig = field(default_factory=OpsImplementationConfig)


@dataclass
class DataArguments:
    buffer_size: int = 200


@dataclass
class JobArguments:
    model: ModelArguments = field(default_factory=ModelArguments)
    data: DataArguments = field(default_factory=DataArguments)
