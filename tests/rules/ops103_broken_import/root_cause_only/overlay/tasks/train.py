from tasks.data import build_dataset
from veomni.trainer import Trainer


def main():
    from tasks.datasets import build_dataloader
    from tasks.data import build_sampler

    return Trainer(build_dataset("data"), build_dataloader(), build_sampler())
