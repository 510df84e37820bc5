"""OPS205: CUDA by name in shared code."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, plant
from evaluation.mutations.tree_places import LLAMA_CONFIG, LLAMA_GPU, QWEN3_NPU

HELPER = "veomni/utils/helper.py"
ULYSSES = "veomni/distributed/sequence_parallel/ulysses.py"
PARALLEL_STATE = "veomni/distributed/parallel_state.py"
MODULE_UTILS = "veomni/models/module_utils.py"
TRAINER = "veomni/trainer/base.py"
AUTO = "veomni/models/auto.py"


def _added(name: str, code: str, path: str = PARALLEL_STATE) -> Mutation:
    """Add *code* at the end of a file."""
    return plant("OPS205", name, append(path, code))


MUTATIONS = (
    _added("synchronize", "def wait():\n    torch.cuda.synchronize()  # OPS205"),
    _added("synchronize in another file", "def wait():\n    torch.cuda.synchronize()  # OPS205", HELPER),
    _added(
        "current device",
        "def room(n):\n    return torch.empty(n, device=torch.cuda.current_device())  # OPS205",
        ULYSSES,
    ),
    _added("context", "def room(x):\n    with torch.cuda.device(x.device):  # OPS205\n        return x", ULYSSES),
    _added("memory", "def peak():\n    return torch.cuda.max_memory_allocated() / 2**30  # OPS205", HELPER),
    _added(
        "method",
        "def move(batch):\n    return {k: v.cuda(non_blocking=True) for k, v in batch.items()}  # OPS205",
        TRAINER,
    ),
    _added(
        "method of a long expression",
        "def move(x):\n    return (\n        x.float()\n        .contiguous()\n        .cuda()  # OPS205\n    )",
        HELPER,
    ),
    _added("device argument", 'def room(n):\n    return torch.empty(n, device="cuda")  # OPS205'),
    _added("device with an index", 'def room(n):\n    return torch.empty(n, device="cuda:0")  # OPS205'),
    _added("device with a rank", 'def room(n, rank):\n    return torch.empty(n, device=f"cuda:{rank}")  # OPS205'),
    _added("torch device", 'def room():\n    return torch.device("cuda")  # OPS205', MODULE_UTILS),
    _added("to", 'def move(x):\n    return x.to("cuda")  # OPS205', MODULE_UTILS),
    _added("default", 'def room(n, device="cuda"):  # OPS205\n    return torch.empty(n, device=device)', MODULE_UTILS),
    _added(
        "variable",
        'def room(n):\n    device = "cuda"  # OPS205\n    return torch.empty(n, device=device)',
        MODULE_UTILS,
    ),
    _added(
        "autocast",
        'def cast():\n    return torch.autocast(device_type="cuda", dtype=torch.bfloat16)  # OPS205',
        MODULE_UTILS,
    ),
    _added("mesh", 'def mesh():\n    return torch.distributed.init_device_mesh("cuda", (1,))  # OPS205'),
    _added("backend", 'def start():\n    torch.distributed.init_process_group(backend="nccl")  # OPS205'),
    _added("backend by position", 'def start():\n    torch.distributed.init_process_group("nccl")  # OPS205', TRAINER),
    _added(
        "both backends",
        'def start():\n    torch.distributed.init_process_group(backend="cpu:gloo,cuda:nccl")  # OPS205',
    ),
    _added(
        "chosen by hand",
        'def f():\n    device_type = "npu" if is_torch_npu_available() else "cuda"  # OPS205\n    return device_type',
    ),
    _added(
        "question",
        "def clean():\n    if torch.cuda.is_available():  # OPS205\n        torch.cuda.empty_cache()",
        HELPER,
    ),
    _added("seed", "def seed(n):\n    torch.cuda.manual_seed_all(n)  # OPS205", MODULE_UTILS),
    _added(
        "under another name",
        "def wait():\n    from torch import cuda\n\n    cuda.synchronize()  # OPS205",
        MODULE_UTILS,
    ),
    _added("event", "def event():\n    return torch.cuda.Event(enable_timing=True)  # OPS205", HELPER),
    _added("by getattr", 'def namespace():\n    return getattr(torch, "cuda")  # OPS205', MODULE_UTILS),
    _added("at module level", "torch.cuda.empty_cache()  # OPS205", MODULE_UTILS),
    _added("in a lambda", "wait = lambda: torch.cuda.synchronize()  # OPS205", MODULE_UTILS),
    _added(
        "in a class",
        'class Room:\n    device = "cuda"  # OPS205\n\n    def make(self):\n        return self.x.cuda()  # OPS205',
        AUTO,
    ),
    _added("in a generated file", "def wait():\n    torch.cuda.synchronize()  # OPS205", LLAMA_GPU),
    _added(
        "in a generated file for the NPU", 'def room(n):\n    return torch.empty(n, device="cuda")  # OPS205', QWEN3_NPU
    ),
    _added("in a patch", 'def room(n):\n    return torch.empty(n, device="cuda")  # OPS205', LLAMA_CONFIG),
    _added(
        "under the wrong guard",
        "def wait():\n    if IS_NPU_AVAILABLE:\n        torch.cuda.synchronize()  # OPS205",
        HELPER,
    ),
    _added(
        "device by format", 'def room(n, rank):\n    return torch.empty(n, device="cuda:{}".format(rank))  # OPS205'
    ),
    _added("device by a sum", 'def room(n, rank):\n    return torch.empty(n, device="cuda:" + str(rank))  # OPS205'),
    _added("device by percent", 'def room(n, rank):\n    return torch.empty(n, device="cuda:%d" % rank)  # OPS205'),
    _added(
        "by another name of the module",
        "import torch.cuda as accelerator\n\n\ndef clean():\n    accelerator.empty_cache()  # OPS205",
        MODULE_UTILS,
    ),
    _added("type of tensors", "def cast(x):\n    return x.type(torch.cuda.FloatTensor)  # OPS205", MODULE_UTILS),
    _added("type of tensors by name", 'def cast(x):\n    return x.type("torch.cuda.HalfTensor")  # OPS205', HELPER),
    _added("default type", "torch.set_default_tensor_type(torch.cuda.BFloat16Tensor)  # OPS205", MODULE_UTILS),
    _added(
        "harmless question about a type",
        "def is_half(x: torch.cuda.HalfTensor):\n    return isinstance(x, torch.cuda.HalfTensor)",
        HELPER,
    ),
    _added(
        "harmless question about the beginning of a name",
        'def wait(device):\n    if str(device).startswith("cuda"):\n        torch.cuda.synchronize()',
        HELPER,
    ),
    _added("harmless guard", "def wait():\n    if IS_CUDA_AVAILABLE:\n        torch.cuda.synchronize()", HELPER),
    _added(
        "harmless early return",
        "def wait():\n    if not IS_CUDA_AVAILABLE:\n        return\n    torch.cuda.synchronize()",
        HELPER,
    ),
    _added(
        "under a decorator",
        "def traced(fn):\n    def wrapper(*args):\n        logger.info(fn)\n        return fn(*args)\n\n"
        "    return wrapper\n\n\n@traced\ndef wait():\n    torch.cuda.synchronize()  # OPS205",
        HELPER,
    ),
    _added(
        "harmless under a decorator",
        "def gpu_only(fn):\n    def wrapper(*args):\n        return fn(*args) if IS_CUDA_AVAILABLE else None\n\n"
        "    return wrapper\n\n\n@gpu_only\ndef wait():\n    torch.cuda.synchronize()",
        HELPER,
    ),
    _added(
        "harmless comparison",
        'def is_cuda(device):\n    return device.type == "cuda" or device.type in ("cuda", "npu")',
    ),
    _added(
        "harmless text",
        'def wait():\n    """Calls torch.cuda.synchronize() on "cuda"."""\n    # torch.cuda.synchronize()',
    ),
    _added("harmless table", 'BACKENDS = {"cuda": "nccl", "npu": "hccl", "cpu": "gloo"}'),
    _added("harmless annotation", "def wait(stream: torch.cuda.Stream | None = None):\n    return stream"),
    _added("harmless flag", "torch.backends.cuda.matmul.allow_tf32 = False", MODULE_UTILS),
    _added("harmless helper", "def room(n):\n    return torch.empty(n, device=get_device_type())", HELPER),
)
