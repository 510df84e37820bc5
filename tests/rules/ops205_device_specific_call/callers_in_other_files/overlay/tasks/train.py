import torch.distributed as dist

from veomni.trainer.loop import train


def main():
    dist.init_process_group(backend="nccl")
    train()
