"""OPS803 and OPS804: kernels that no test names, and tests for an NPU that no workflow runs."""

from __future__ import annotations

from evaluation.mutations.draft import (
    Edit,
    Mutation,
    after,
    append,
    create,
    delete,
    drop,
    gone,
    mark,
    plant,
    swap,
    swap_all,
)
from evaluation.mutations.tree_places import CROSS_ENTROPY, GATED_DELTA, MHC, MOE, RMS_NORM, ROTARY, SWIGLU

TESTS = "tests/ops/"
NUMERICAL = TESTS + "test_kernel_registry_numerical.py"
SANITY = TESTS + "test_kernel_registry_sanity.py"
NPU_KERNELS = TESTS + "test_npu_kernels.py"
WORKFLOW = ".github/workflows/npu_unit_tests.yml"
RUN = "          uv run --frozen pytest -v -s -x "
RUN_KERNELS = RUN + "tests/ops/test_npu_kernels.py\n"
RUN_LORA = RUN + "tests/lora/test_moe_lora_fused_npu.py\n"
GUARD = "import pytest\n\nfrom veomni.utils.device import IS_NPU_AVAILABLE\n\n\n"
SKIPIF = '@pytest.mark.skipif(not IS_NPU_AVAILABLE, reason="npu")'
STAND_IN = """
from unittest.mock import patch


@patch("veomni.utils.device.IS_NPU_AVAILABLE", True)
def test_one():
    pass
"""


def _registered(name: str, code: str, path: str = RMS_NORM) -> Mutation:
    """Register more kernels."""
    return plant("OPS803", name, append(path, code))


def _spec(name: str, op: str, factory: str, variant: str = "standard", op_mark: str = "") -> str:
    return (
        f'KERNEL_REGISTRY.register(\n    KernelSpec(  # OPS803\n        name="{name}",\n'
        f'        op_name="{op}",{op_mark}\n        variant="{variant}",\n        factory={factory},\n'
        '        hardware=HardwareRequirement(device_type="npu"),\n    )\n)'
    )


def _workflow(name: str, *edits: Edit) -> Mutation:
    return plant("OPS804", name, *edits)


def _test(name: str, path: str, code: str, anchor: str) -> Mutation:
    """A new test, which the workflow lacks below the line of *anchor*."""
    return plant("OPS804", name, create(path, code), mark(WORKFLOW, anchor, "OPS804"))


MUTATIONS = (
    plant(
        "OPS803",
        "test of an op removed",
        delete(TESTS + "test_mhc_tile_kernels.py"),
        mark(MHC, "        KernelSpec(", "OPS803"),
    ),
    plant(
        "OPS803",
        "test of an implementation removed",
        delete(TESTS + "test_gdn_ascend_gate.py"),
        mark(GATED_DELTA, "    KernelSpec(", "OPS803", nth=2),
        mark(GATED_DELTA, "    KernelSpec(", "OPS803", nth=7),
    ),
    plant(
        "OPS803",
        "test of an implementation renamed",
        swap_all(NUMERICAL, "flash_qla", "other"),
        mark(GATED_DELTA, "    KernelSpec(", "OPS803", nth=5),
    ),
    plant(
        "OPS803",
        "tests of an op renamed",
        swap_all(NPU_KERNELS, "rotary_pos_emb_vision", "rotary"),
        swap_all(SANITY, "rotary_pos_emb_vision", "rotary"),
        mark(ROTARY, "    KernelSpec(", "OPS803", nth=1),
    ),
    _registered("new implementation", _spec("fused_v2", "rms_norm", "_npu_standard_rms_norm_factory")),
    _registered("new op", _spec("npu", "group_norm", "_npu_standard_rms_norm_factory", op_mark="  # OPS303")),
    _registered(
        "implementations in a loop",
        """
for _name in ("fused_v2", "fused_v3"):
    KERNEL_REGISTRY.register(
        KernelSpec(_name, "rms_norm", "standard", _npu_standard_rms_norm_factory, HardwareRequirement("npu"))  # OPS803
    )
""",
    ),
    _registered(
        "new op in another folder",
        """
def _fused_swiglu_factory():
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    return LigerSiLUMulFunction.apply


from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

KERNEL_REGISTRY.register(
    KernelSpec(  # OPS803
        "triton", "swiglu_clamp", "standard", _fused_swiglu_factory, HardwareRequirement("gpu")  # OPS303
    )
)
""",
        SWIGLU,
    ),
    plant(
        "OPS803",
        "tests of losses removed",
        delete(TESTS + "test_chunk_loss.py"),
        mark(CROSS_ENTROPY, "        KernelSpec(", "OPS803", nth=0),
    ),
    plant(
        "OPS803",
        "new backend",
        after(
            SWIGLU,
            "        backends={",
            '"fused_v2": BackendSpec(entry="liger_kernel.transformers.swiglu:LigerSwiGLUMLP"),  # OPS803',
            indent=12,
        ),
    ),
    plant(
        "OPS803",
        "harmless test moved",
        delete(TESTS + "test_mhc_tile_kernels.py"),
        create(TESTS + "test_hyper_connections.py", "def test_mhc():\n    assert 'tilelang'"),
    ),
    plant("OPS803", "harmless comment", append(MOE, "# KernelSpec(name='fused_v2')")),
    _workflow(
        "command removed",
        drop(WORKFLOW, RUN_KERNELS.strip()),
        mark(WORKFLOW, "tests/ops/test_moe_hw_gate.py", "OPS804"),
    ),
    _workflow(
        "command of another folder removed",
        drop(WORKFLOW, RUN_LORA.strip()),
        mark(WORKFLOW, "tests/lora/test_moe_lora_ep_sharded_stream_load.py", "OPS804"),
    ),
    _workflow(
        "command commented out",
        swap(WORKFLOW, RUN_KERNELS, RUN_KERNELS.replace("uv", "# uv").replace("\n", "  # OPS804\n")),
    ),
    _workflow("path misspelt", swap(WORKFLOW, RUN_KERNELS, RUN + "tests/ops/test_npu_kernel.py  # OPS804\n")),
    _workflow(
        "file ignored",
        swap(WORKFLOW, RUN_KERNELS, RUN + "tests/ops --ignore=tests/ops/test_npu_kernels.py  # OPS804\n"),
        gone("OPS804", WORKFLOW),
    ),
    _workflow(
        "tests deselected", swap(WORKFLOW, RUN_KERNELS, RUN + "tests/ops/test_npu_kernels.py -k nothing  # OPS804\n")
    ),
    _workflow(
        "step switched off",
        after(WORKFLOW, "      - name: Run MoE-LoRA NPU fused vs eager parity", "if: false", indent=8),
        mark(WORKFLOW, "tests/lora/test_moe_lora_fused_npu.py", "OPS804"),
    ),
    _test(
        "skipif",
        TESTS + "test_new_rotary.py",
        GUARD + f"{SKIPIF}\ndef test_one():\n    pass",
        "tests/ops/test_npu_kernels.py",
    ),
    _test(
        "skipif of a method",
        TESTS + "test_new_rotary.py",
        GUARD + f"class TestOne:\n    {SKIPIF}\n    def test_one(self):\n        pass",
        "tests/ops/test_npu_kernels.py",
    ),
    _test(
        "pytestmark",
        "tests/lora/test_new.py",
        GUARD + 'pytestmark = pytest.mark.skipif(not IS_NPU_AVAILABLE, reason="npu")\n\n\ndef test_one():\n    pass',
        "tests/lora/test_moe_lora_ep_sharded_stream_load.py",
    ),
    _test(
        "skip inside",
        "tests/distributed/test_new.py",
        GUARD + 'def test_one():\n    if not IS_NPU_AVAILABLE:\n        pytest.skip("npu")',
        "tests/distributed/test_dummy_forward.py",
    ),
    _test(
        "importorskip",
        "tests/models/test_new.py",
        'import pytest\n\ntorch_npu = pytest.importorskip("torch_npu")\n\n\ndef test_one():\n    pass',
        "tests/models/test_checkpoint_tensor_converter.py",
    ),
    _test(
        "import",
        "tests/models/test_new.py",
        "import torch_npu  # OPS201\n\n\ndef test_one():\n    pass",
        "tests/models/test_checkpoint_tensor_converter.py",
    ),
    _test("file name", TESTS + "test_npu_rotary.py", "def test_one():\n    pass", "tests/ops/test_npu_kernels.py"),
    plant(
        "OPS804", "harmless folder that is run", create("tests/data/test_npu_packing.py", "def test_one():\n    pass")
    ),
    plant(
        "OPS804",
        "harmless test for a GPU",
        create(
            TESTS + "test_new_rotary.py",
            GUARD + '@pytest.mark.skipif(IS_NPU_AVAILABLE, reason="cuda")\ndef test_one():\n    pass',
        ),
    ),
    plant(
        "OPS804",
        "harmless stand-in",
        create(TESTS + "test_npu_gate.py", STAND_IN),
    ),
    _workflow("harmless folder", swap(WORKFLOW, RUN_KERNELS, RUN + "tests/ops/test_npu*s.py\n")),
)
