"""OPS202, OPS203 and OPS204: NPU calls outside a guard, NPU kernels beside GPU ones, impossible hardware."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, mark, plant, swap
from evaluation.mutations.tree_places import CROSS_ENTROPY, DEVICE, GATED_DELTA, HELPER, LIGER, MHC, MOE, RMS_NORM

SEED = "    if IS_NPU_AVAILABLE:\n        torch.npu.manual_seed(seed)\n        torch.npu.manual_seed_all(seed)\n"
CUDA_ALONE = (
    mark(HELPER, "    torch.cuda.manual_seed(seed)", "OPS205?"),
    mark(HELPER, "    torch.cuda.manual_seed_all(seed)", "OPS205?"),
)
"""Without the same calls for the NPU in the function those for CUDA are no longer right."""
STREAM = "    elif IS_NPU_AVAILABLE:\n        torch.npu.current_stream().synchronize()\n"
NPU_FACTORY = (
    "    from .npu_group_gemm import npu_fused_moe_forward\n\n"
    "    return _make_moe_experts_adapter(npu_fused_moe_forward)"
)
NPU_HARDWARE = '        hardware=HardwareRequirement(device_type="npu"),'
GPU_HARDWARE = '        hardware=HardwareRequirement(device_type="gpu"),'


def _use(name: str, new: str) -> Mutation:
    """Put *new* in place of the guarded seeding of the NPU."""
    return plant("OPS202", name, swap(HELPER, SEED, new), *CUDA_ALONE)


def _top(name: str, code: str) -> Mutation:
    """Add module-level code to the shared helpers."""
    return plant("OPS202", name, append(HELPER, code))


def _kernel(name: str, body: str, after_it: str = "") -> Mutation:
    """Put an NPU kernel into the file that has the GPU kernels, reached only through the factory for NPUs."""
    return plant("OPS203", name, swap(MOE, NPU_FACTORY, body), *([append(MOE, after_it)] if after_it else []))


def _hardware(name: str, path: str, old: str, new: str, nth: int = 0) -> Mutation:
    """Declare other hardware at one registration."""
    return plant("OPS204", name, swap(path, old, f"        hardware={new},  # OPS204", nth=nth))


USES = (
    _use("guard removed", "    torch.npu.manual_seed(seed)  # OPS202\n    torch.npu.manual_seed_all(seed)  # OPS202\n"),
    _use("guard negated", "    if not IS_NPU_AVAILABLE:\n        torch.npu.manual_seed(seed)  # OPS202\n"),
    _use(
        "in the else branch",
        "    if IS_NPU_AVAILABLE:\n        pass\n    else:\n        torch.npu.manual_seed(seed)  # OPS202\n",
    ),
    _use("under an unrelated condition", "    if IS_CUDA_AVAILABLE:\n        torch.npu.manual_seed(seed)  # OPS202\n"),
    _use(
        "or instead of and",
        "    if IS_NPU_AVAILABLE or IS_CUDA_AVAILABLE:\n        torch.npu.manual_seed(seed)  # OPS202\n",
    ),
    _use("before the guard", "    torch.npu.manual_seed(seed)  # OPS202\n" + SEED),
    _use("after the guard", SEED + "    torch.npu.synchronize()  # OPS202\n"),
    _use("as a value", "    seed_npu = torch.npu.manual_seed  # OPS202\n    seed_npu(seed)\n"),
    _use("assigned to", "    torch.npu.matmul.allow_tf32 = False  # OPS202\n"),
    _use("in a with statement", "    with torch.npu.stream(None):  # OPS202\n        pass\n"),
    _use("in a conditional expression", "    _ = None if IS_NPU_AVAILABLE else torch.npu.current_device()  # OPS202\n"),
    _use("in a formatted string", '    logger.info(f"device {torch.npu.current_device()}")  # OPS202\n'),
    _use("in a lambda that is called", "    (lambda: torch.npu.synchronize())()  # OPS202\n"),
    _use("in a comprehension", "    _ = [torch.npu.get_device_name(index) for index in range(2)]  # OPS202\n"),
    _use("in a loop over devices", "    for _ in range(torch.npu.device_count()):  # OPS202\n        pass\n"),
    _use(
        "guard function not called", "    if IS_NPU_AVAILABLE or is_nccl:\n        torch.npu.synchronize()  # OPS202\n"
    ),
    _top("at import", "torch.npu.config.allow_internal_format = False  # OPS202"),
    _top("package name in a function", "def drop_cache():\n    torch_npu.npu.empty_cache()  # OPS202"),
    _top("in a decorator", "@torch.npu.amp.autocast()  # OPS202\ndef half(x):\n    return x"),
    _top("in a default argument", "def on(device=torch.npu.current_device()):  # OPS202\n    return device"),
    _top("in a class body", "class Ascend:\n    count = torch.npu.device_count()  # OPS202"),
    _top("in a method", "class Ascend:\n    def count(self):\n        return torch.npu.device_count()  # OPS202"),
    plant(
        "OPS202",
        "device module: guard removed",
        swap(DEVICE, "if IS_NPU_AVAILABLE:\n    torch.npu.config", "torch.npu.config"),
        mark(DEVICE, "torch.npu.config", "OPS202"),
    ),
    plant(
        "OPS202",
        "device module: else branch",
        swap(DEVICE, STREAM, "    else:\n        torch.npu.current_stream().synchronize()  # OPS202?\n"),
        swap(DEVICE, "    else:\n        synchronize()\n", ""),
    ),
    _use(
        "harmless: attribute checked",
        '    if hasattr(torch, "npu") and torch.npu.is_available():\n        torch.npu.manual_seed(seed)\n',
    ),
    _use(
        "harmless: error handled",
        "    try:\n        torch.npu.manual_seed(seed)\n    except AttributeError:\n        pass\n",
    ),
    _use("harmless: early return", "    if not IS_NPU_AVAILABLE:\n        return\n    torch.npu.manual_seed(seed)\n"),
    _use(
        "harmless: guard kept in a variable",
        "    on_npu = IS_NPU_AVAILABLE\n    if on_npu:\n        torch.npu.manual_seed(seed)\n",
    ),
    _use("harmless: short circuit", "    _ = IS_NPU_AVAILABLE and torch.npu.current_device()\n"),
    _use("harmless: device helper", "    get_torch_device().manual_seed(seed)\n"),
    _use("harmless: only a text", '    logger.info("torch.npu.manual_seed(seed)")\n'),
)

KERNELS_BESIDE = (
    _kernel(
        "kernel inside the factory",
        "    def npu_moe(self, hidden, index, weights):  # OPS203:a\n        import torch_npu  # OPS203:a\n\n"
        "        return torch_npu.npu_swiglu(hidden)\n\n    return npu_moe",
    ),
    _kernel(
        "import in the factory",
        "    import torch_npu  # OPS203:a\n\n    def npu_moe(self, hidden, index, weights):  # OPS203:a\n"
        "        return torch_npu.npu_swiglu(hidden)\n\n    return npu_moe",
    ),
    _kernel(
        "kernel function in the file",
        "    return _npu_moe",
        "def _npu_moe(self, hidden, index, weights):  # OPS203:a\n    import torch_npu  # OPS203:a\n\n"
        "    return torch_npu.npu_swiglu(hidden)",
    ),
    _kernel(
        "kernel behind the guard",
        "    return _npu_moe",
        "if is_torch_npu_available():\n    import torch_npu  # OPS203:a\n\n"
        "    def _npu_moe(self, hidden, index, weights):  # OPS203:a\n        return torch_npu.npu_swiglu(hidden)",
    ),
    _kernel(
        "autograd function in the file",
        "    return _NpuMoe.apply",
        "class _NpuMoe(torch.autograd.Function):  # OPS203:a\n    @staticmethod\n"
        "    def forward(ctx, hidden, *arguments):  # OPS203:a\n        import torch_npu  # OPS203:a\n\n"
        "        return torch_npu.npu_swiglu(hidden)",
    ),
    _kernel(
        "kernel by torch.npu",
        "    def npu_moe(self, hidden, index, weights):  # OPS203:a\n        torch.npu.synchronize()  # OPS203:a\n\n"
        "        return hidden\n\n    return npu_moe",
    ),
    _kernel(
        "name of the package imported",
        "    from torch_npu import npu_swiglu  # OPS203:a\n\n"
        "    def npu_moe(self, hidden, index, weights):  # OPS203:a\n        return npu_swiglu(hidden)\n\n"
        "    return npu_moe",
    ),
    _kernel(
        "kernel class in the factory",
        "    import torch_npu  # OPS203:a\n\n    class NpuMoe(torch.nn.Module):  # OPS203:a\n"
        "        def forward(self, hidden):  # OPS203:a\n            return torch_npu.npu_swiglu(hidden)\n\n"
        "    return NpuMoe",
    ),
    _kernel(
        "package loaded by name",
        "    import importlib\n\n    npu = importlib.import_module('torch_npu')  # OPS203:a\n\n"
        "    def npu_moe(self, hidden, index, weights):  # OPS203:a\n        return npu.npu_swiglu(hidden)\n\n"
        "    return npu_moe",
    ),
    _kernel(
        "kernel in an adapter",
        "    def raw(num_experts, routing_weights, selected_experts, hidden_states, **rest):  # OPS203:a\n"
        "        import torch_npu  # OPS203:a\n\n        return torch_npu.npu_swiglu(hidden_states)\n\n"
        "    return _make_moe_experts_adapter(raw)",
    ),
    _kernel(
        "two kernels in the file",
        "    return _npu_moe",
        "def _npu_act(hidden):  # OPS203?, OPS203:a\n    import torch_npu  # OPS203?, OPS203:a\n\n"
        "    return torch_npu.npu_swiglu(hidden)\n\n\n"
        "def _npu_moe(self, hidden, index, weights):  # OPS203?, OPS203:a\n"
        "    return _npu_act(hidden)",
    ),
    plant(
        "OPS203",
        "beside the library kernels",
        append(
            LIGER,
            """
            def _npu_swiglu_factory():
                def npu_swiglu(self, x):  # OPS203:a
                    import torch_npu  # OPS203:a

                    return torch_npu.npu_swiglu(x)

                return npu_swiglu


            KERNEL_REGISTRY.register(
                KernelSpec("npu", "swiglu_mlp", "standard", _npu_swiglu_factory, HardwareRequirement("npu"))
            )
            """,
        ),
    ),
    plant(
        "OPS203",
        "beside the kernels of a linear attention",
        swap(
            GATED_DELTA,
            "    from .npu_rms_norm_gated import NPUFusedRMSNormGated\n\n    return NPUFusedRMSNormGated",
            "    import torch_npu  # OPS203:a\n\n    class NpuNorm(torch_npu.nn.Module):  # OPS203:a\n        pass\n\n"
            "    return NpuNorm",
        ),
    ),
    _kernel(
        "package for the NPU of another library",
        "    return _npu_moe",
        "def _npu_moe(self, hidden, index, weights):  # OPS203:a\n    from fla_npu.ops import moe  # OPS203:a\n\n"
        "    return moe(hidden)",
    ),
    _kernel(
        "package under another name",
        "    return _npu_moe",
        "def _npu_moe(self, hidden, index, weights):  # OPS203:a\n    import torch_npu as tn  # OPS203:a\n\n"
        "    return tn.npu_swiglu(hidden)",
    ),
    _kernel(
        "partial of a kernel in the file",
        "    from functools import partial\n\n    return partial(_npu_moe, scale=1.0)",
        "def _npu_moe(self, hidden, index, weights, scale):  # OPS203:a\n    import torch_npu  # OPS203:a\n\n"
        "    return torch_npu.npu_swiglu(hidden) * scale",
    ),
    _kernel("harmless: kernel in its own file", NPU_FACTORY + "  "),
    _kernel(
        "harmless: adapter of an imported kernel",
        NPU_FACTORY.replace("    return", "    adapted =") + "\n    return adapted",
    ),
)

HARDWARE = (
    _hardware("unknown device", LIGER, GPU_HARDWARE, 'HardwareRequirement(device_type="cuda")'),
    _hardware("capital letters", LIGER, GPU_HARDWARE, 'HardwareRequirement(device_type="GPU")', 1),
    _hardware("unknown device by position", LIGER, GPU_HARDWARE, 'HardwareRequirement("ascend")', 2),
    _hardware("processor as device", LIGER, GPU_HARDWARE, 'HardwareRequirement("cpu")', 4),
    _hardware(
        "minimum above maximum",
        LIGER,
        GPU_HARDWARE,
        'HardwareRequirement(device_type="gpu", min_compute_capability=90, max_compute_capability=80)',
    ),
    _hardware("minimum above maximum by position", LIGER, GPU_HARDWARE, 'HardwareRequirement("gpu", 100, 90)', 1),
    _hardware(
        "minimum on an NPU", RMS_NORM, NPU_HARDWARE, 'HardwareRequirement(device_type="npu", min_compute_capability=80)'
    ),
    _hardware(
        "maximum on an NPU",
        RMS_NORM,
        NPU_HARDWARE,
        'HardwareRequirement(device_type="npu", max_compute_capability=90)',
        1,
    ),
    _hardware("GPU library for any device", LIGER, GPU_HARDWARE, 'HardwareRequirement(device_type="any")'),
    _hardware(
        "GPU library of a lambda for any device", LIGER, GPU_HARDWARE, 'HardwareRequirement(device_type="any")', 3
    ),
    plant(
        "OPS204",
        "NPU kernel declared for GPUs",
        swap(RMS_NORM, NPU_HARDWARE, GPU_HARDWARE + "  # OPS204", nth=0),
        mark(RMS_NORM, "from .npu import standard_rms_norm_forward_npu", "OPS201?"),
    ),
    plant(
        "OPS204",
        "NPU kernel declared for any device",
        swap(RMS_NORM, NPU_HARDWARE, NPU_HARDWARE.replace("npu", "any") + "  # OPS204", nth=1),
        mark(RMS_NORM, "from .npu import unweighted_rms_norm_forward_npu", "OPS201?"),
    ),
    plant(
        "OPS204",
        "NPU class declared for GPUs",
        swap(GATED_DELTA, NPU_HARDWARE, GPU_HARDWARE + "  # OPS204", nth=0),
        mark(GATED_DELTA, "from .npu_rms_norm_gated import NPUFusedRMSNormGated", "OPS201?"),
    ),
    plant(
        "OPS204",
        "range turned around in a loop",
        swap(
            MHC,
            'device_type="gpu", min_compute_capability=90),',
            'device_type="gpu", min_compute_capability=90, max_compute_capability=89),  # OPS204',
        ),
    ),
    plant(
        "OPS204",
        "unknown device in a loop's table",
        swap(
            CROSS_ENTROPY,
            '("chunk_loss", HardwareRequirement(device_type="any")),',
            '("chunk_loss", HardwareRequirement(device_type="all")),  # OPS204',
        ),
    ),
    plant(
        "OPS204",
        "unknown device in a constant",
        after(LIGER, "from ..kernel_registry import", '_GPU = HardwareRequirement("cuda")  # OPS204:a'),
        swap(LIGER, GPU_HARDWARE, "        hardware=_GPU,  # OPS204:a", nth=0),
    ),
    plant(
        "OPS204",
        "harmless: exact capability",
        swap(LIGER, GPU_HARDWARE, '        hardware=HardwareRequirement("gpu", 90, 90),', nth=0),
    ),
    plant(
        "OPS204",
        "harmless: only a maximum",
        swap(LIGER, GPU_HARDWARE, '        hardware=HardwareRequirement("gpu", max_compute_capability=90),', nth=1),
    ),
    plant(
        "OPS204",
        "harmless: None as limit",
        swap(LIGER, GPU_HARDWARE, '        hardware=HardwareRequirement("gpu", None, None),', nth=2),
    ),
    plant(
        "OPS204",
        "harmless: device from outside",
        after(LIGER, "from ..kernel_registry import", "import os"),
        swap(LIGER, GPU_HARDWARE, '        hardware=HardwareRequirement(os.environ["DEVICE"]),', nth=0),
    ),
)

MUTATIONS = USES + KERNELS_BESIDE + HARDWARE
