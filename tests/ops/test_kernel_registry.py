"""The registry: registration, resolution and the reasons it gives."""

import subprocess
import sys
from pathlib import Path

import pytest

from veomni.ops import KERNEL_REGISTRY
from veomni.ops.kernel_registry import (
    HardwareRequirement,
    KernelRegistry,
    KernelSpec,
    KernelUnavailableError,
    UnknownKernelError,
)
from veomni.utils import import_utils
from veomni.utils.import_utils import PackageRequirement

ROOT = Path(__file__).parents[2]


def add(x: int, y: int) -> int:
    return x + y


def spec(name: str = "plain", device_type: str = "any", **options: object) -> KernelSpec:
    return KernelSpec(name, "add", "standard", lambda: add, HardwareRequirement(device_type), **options)


def test_resolve_returns_what_the_factory_returns() -> None:
    """A registered kernel that the machine can run is returned by name."""
    registry = KernelRegistry()
    registry.register(spec())
    assert registry.resolve("add", "standard", "plain") is add
    registry.register(spec("absent", requires=(PackageRequirement("no_such_package"),)))
    assert registry.list_available("add", "standard") == ["plain", "absent"]
    assert registry.list_usable("add", "standard") == ["eager", "plain"]


def test_eager_is_no_kernel() -> None:
    """Eager resolves to None for any slot and cannot be registered."""
    registry = KernelRegistry()
    assert registry.resolve("add", "standard", "eager") is None
    with pytest.raises(ValueError, match="cannot be registered"):
        registry.register(spec("eager"))


def test_unknown_name_lists_what_there_is() -> None:
    """An unknown name is answered with the names that exist for that slot."""
    registry = KernelRegistry()
    registry.register(spec())
    with pytest.raises(UnknownKernelError) as caught:
        registry.resolve("add", "standard", "fast")
    assert str(caught.value) == "add/standard has no kernel 'fast'; there are: eager, plain"


def test_a_name_is_registered_once_unless_forced() -> None:
    """A second kernel of one name is refused, and with force it takes the place of the first."""
    registry = KernelRegistry()
    registry.register(spec())
    other = spec(description="another")
    with pytest.raises(ValueError, match="add/standard already has a kernel 'plain'"):
        registry.register(other)
    registry.register(other, force=True)
    assert registry.specs() == [other]


def test_missing_hardware_is_said_and_the_factory_not_called() -> None:
    """A kernel for hardware that cannot exist here names that hardware."""
    registry = KernelRegistry()
    registry.register(
        KernelSpec("far", "add", "standard", lambda: 1 / 0, HardwareRequirement("gpu", min_compute_capability=9_000))
    )
    with pytest.raises(KernelUnavailableError) as caught:
        registry.resolve("add", "standard", "far")
    assert str(caught.value) == (
        "kernel 'far' of add/standard cannot be used: "
        "it needs gpu, compute capability >= 9000, which this machine does not have"
    )


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (PackageRequirement("no_such_package"), "no_such_package is not installed"),
        (PackageRequirement("pytest", min_version="9999"), "at least 9999 is needed"),
        (PackageRequirement("pytest", below="1.0"), "a version below 1.0 is needed"),
        (PackageRequirement("pytest", attribute="no_such_name"), "pytest has no no_such_name"),
    ],
)
def test_a_missing_package_or_version_is_said(requirement: PackageRequirement, reason: str) -> None:
    """A kernel whose package is absent, too old, too new or hollow cannot be resolved."""
    registry = KernelRegistry()
    registry.register(spec(requires=(requirement,)))
    with pytest.raises(KernelUnavailableError, match=reason):
        registry.resolve("add", "standard", "plain")


@pytest.mark.parametrize("name", ["liger_kernel", "triton", "tilelang", "fla", "quack", "flashmla"])
def test_kernels_say_which_package_they_need(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package, a kernel for a GPU is refused by the registry and not by the import of its factory."""
    monkeypatch.setattr(HardwareRequirement, "is_satisfied", lambda _: True)
    monkeypatch.setattr(import_utils, "is_package_available", lambda _: False)
    specs = [one for one in KERNEL_REGISTRY.specs() if one.name == name]
    for one in specs:
        with pytest.raises(KernelUnavailableError, match="is not installed"):
            KERNEL_REGISTRY.resolve(one.op_name, one.variant, one.name)
    assert specs


@pytest.mark.parametrize("variant", ["pre", "post", "head"])
def test_tile_kernels_needs_an_older_tilelang(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing it with TileLang 0.1.15 fails once, and leaves half of it behind: the registry refuses it before."""
    monkeypatch.setattr(HardwareRequirement, "is_satisfied", lambda _: True)
    monkeypatch.setattr(import_utils, "is_package_available", lambda _: True)
    monkeypatch.setattr(import_utils, "package_version", lambda _: "0.1.15")
    with pytest.raises(KernelUnavailableError, match=r"tilelang is 0\.1\.15, a version below 0\.1\.12 is needed"):
        KERNEL_REGISTRY.resolve("mhc", variant, "tilelang")


def test_a_satisfied_requirement_is_silent() -> None:
    """A package that is there in a right version with the attribute is no problem."""
    assert PackageRequirement("pytest", attribute="raises", min_version="1.0", below="9999").problem() is None


@pytest.mark.parametrize("arguments", [("tpu",), ("npu", 90), ("gpu", 90, 80)])
def test_impossible_hardware_is_refused(arguments: tuple) -> None:
    """A requirement that can never hold is an error where it is written."""
    with pytest.raises(ValueError, match=r"device_type|compute|capability"):
        HardwareRequirement(*arguments)


def test_importing_the_ops_package_loads_no_optional_package() -> None:
    """The registry fills from the standard library alone; torch, triton and the like stay unloaded."""
    code = (
        "import sys, veomni.ops; heavy = {'torch', 'triton', 'liger_kernel', 'torch_npu', 'fla', 'flash_attn'};"
        "print(sorted(heavy & set(sys.modules)), len(veomni.ops.KERNEL_REGISTRY.specs()) > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"
