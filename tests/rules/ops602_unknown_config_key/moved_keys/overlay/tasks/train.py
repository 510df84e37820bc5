from dataclasses import dataclass, field

from veomni.arguments.job import DataArguments, JobArguments


@dataclass
class MyDataArguments(DataArguments):
    shuffle: bool = False


@dataclass
class MyArguments(JobArguments):
    data: "MyDataArguments" = field(default_factory=MyDataArguments)
