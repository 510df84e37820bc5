"""What is found of optional packages, and what is not."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from veomni.utils import import_utils
from veomni.utils.logging import get_logger


@pytest.mark.parametrize(
    ("text", "release"),
    [("3.6.0", (3, 6)), ("3.6", (3, 6)), ("v2.13.0+cpu", (2, 13)), ("0.6.0rc1", (0, 6)), ("dev", ())],
)
def test_versions(text: str, release: tuple[int, ...]) -> None:
    """The release part is compared, without zeros at its end."""
    assert import_utils.parse_version(text) == release


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "OSError"])
def test_a_package_that_fails_to_load_is_not_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """A module below a package that fails on this machine cannot be found, which is an answer and no crash."""
    package = tmp_path / f"fails_with_{error.lower()}"
    package.mkdir()
    (package / "__init__.py").write_text(f"raise {error}('no GPU')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert import_utils.is_package_available(package.name) is True
    assert import_utils.is_package_available(f"{package.name}.part") is False


def test_a_package_that_fails_says_so_in_its_requirement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement of an attribute loads the package, and reports that it cannot be loaded."""
    (tmp_path / "fails_when_loaded.py").write_text("raise RuntimeError('no GPU')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    requirement = import_utils.PackageRequirement("fails_when_loaded", attribute="kernel")
    assert requirement.problem() == "fails_when_loaded cannot be imported: no GPU"


def test_a_version_that_cannot_be_read_is_a_problem() -> None:
    """Where a version is asked for and none is known, the kernel is not used."""
    requirement = import_utils.PackageRequirement("json", min_version="1")
    assert requirement.problem() == "the version of json cannot be read"


@pytest.mark.parametrize("seen", [True, False])
def test_torch_npu_counts_only_with_a_device(monkeypatch: pytest.MonkeyPatch, seen: bool) -> None:
    """An installed torch_npu that sees no device is no NPU."""
    torch = pytest.importorskip("torch", reason="torch_npu belongs to torch")
    package = ModuleType("torch_npu")
    package.__spec__ = ModuleSpec("torch_npu", None)
    device = ModuleType("npu")
    device.is_available = lambda: seen
    monkeypatch.setitem(sys.modules, "torch_npu", package)
    monkeypatch.setattr(torch, "npu", device, raising=False)
    assert import_utils.is_torch_npu_available.__wrapped__() is seen


def test_a_torch_npu_that_cannot_be_loaded_leaves_torch_as_it_is(tmp_path: Path) -> None:
    """Without its driver torch_npu fails to load; then there is no NPU, and torch works in the same process."""
    pytest.importorskip("torch", reason="torch_npu belongs to torch")
    package, metadata = tmp_path / "torch_npu", tmp_path / "torch_npu-2.0.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text('raise ImportError("libhccl.so: cannot open shared object file")\n')
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.0\n")
    (metadata / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    code = (
        "import os; from veomni.utils.device import IS_NPU_AVAILABLE, is_cuda_available;"
        "is_cuda_available(); import torch;"
        "print(IS_NPU_AVAILABLE, torch.ones(2).sum().item(), os.environ.get('TORCH_DEVICE_BACKEND_AUTOLOAD'))"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
    environment.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("False 2.0 None\n", 0), done.stderr


def test_loggers_speak_once_per_job(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """On other ranks than the first only warnings are logged."""
    logger = get_logger("veomni.test")
    assert get_logger("veomni.test") is logger
    assert len(logger.filters) == 1
    with caplog.at_level(logging.INFO, logger="veomni.test"):
        logger.info("first rank")
        monkeypatch.setenv("RANK", "1")
        logger.info("second rank")
        logger.warning("every rank")
    assert caplog.messages == ["first rank", "every rank"]


@pytest.mark.parametrize(
    ("capability", "installed", "version", "problem"),
    [
        (90, ("triton",), "3.6.0", "triton is 3.6.0, at least 3.7.1 is needed, or tilelang"),
        (90, (), None, "triton is not installed, or tilelang"),
        (90, ("triton",), "3.7.1", None),
        (90, ("triton", "tilelang"), "3.6.0", None),
        (80, ("triton",), "3.6.0", None),
        (None, ("triton",), "3.6.0", None),
    ],
)
def test_requirement_of_one_architecture(
    capability: int | None,
    installed: tuple[str, ...],
    version: str | None,
    problem: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked for on that architecture only, and not where another package does the work."""
    monkeypatch.setattr(import_utils, "is_package_available", lambda name: name in installed)
    monkeypatch.setattr(import_utils, "package_version", lambda _: version)
    monkeypatch.setattr(import_utils, "_compute_capability", lambda: capability)
    requirement = import_utils.PackageRequirement(
        "triton", min_version="3.7.1", compute_capability=90, instead="tilelang"
    )
    assert requirement.problem() == problem
