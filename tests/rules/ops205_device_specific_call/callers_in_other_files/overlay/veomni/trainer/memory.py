import torch


def peak():
    return torch.cuda.max_memory_allocated()


def reset():
    torch.cuda.reset_peak_memory_stats()


def snapshot():
    torch.cuda.memory._dump_snapshot("memory.pickle")
