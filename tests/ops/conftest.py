"""Makes the reference package importable (it is checked and tested here, and never installed) and sets the ground."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

sys.path += [str(Path(__file__).parents[2]), str(Path(__file__).parent)]


def _has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


if not _has_gpu():
    # Triton reads this when a kernel is defined, so it has to be set before any kernel file is imported.
    os.environ["TRITON_INTERPRET"] = "1"
    # The same for TileLang, which then compiles its kernels for the processor.
    os.environ["TILELANG_DEFAULT_TARGET"] = "c"


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill what ``torch.empty`` returns with NaN, so that an element that a kernel leaves unwritten shows."""
    import torch

    def poison(make: Any) -> Any:
        def filled(*arguments: Any, **options: Any) -> torch.Tensor:
            tensor = make(*arguments, **options)
            if tensor.is_floating_point():
                return tensor.fill_(float("nan"))
            return tensor.fill_(-(2**30)) if tensor.dtype in (torch.int32, torch.int64) else tensor

        return filled

    monkeypatch.setattr(torch, "empty", poison(torch.empty))
    monkeypatch.setattr(torch, "empty_like", poison(torch.empty_like))


@pytest.fixture
def patch_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Make the package ``shapes.inner`` with a source and a patch config, and give the name of the config."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(source: str, config: str) -> str:
        package = tmp_path / "shapes" / "inner"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "source.py").write_text(source.lstrip(), newline="")
        (package / "shapes_patch_gen_config.py").write_text(config.lstrip())
        for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        return "shapes.inner.shapes_patch_gen_config"

    return make


@pytest.fixture
def fake_torch_npu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for torch_npu; the NPU files are imported anew with it, and forgotten afterwards."""
    from fake_torch_npu import FakeTorchNpu

    module = FakeTorchNpu()
    monkeypatch.setitem(sys.modules, "torch_npu", module)
    _forget("npu")
    yield module
    _forget("npu")


def _forget(stem: str) -> None:
    """Make the next import of each kernel file *stem* run it again."""
    for name in [name for name in sys.modules if name.startswith("veomni.ops.") and name.endswith(f".{stem}")]:
        parent = sys.modules[name.rpartition(".")[0]]
        del sys.modules[name]
        if hasattr(parent, stem):
            delattr(parent, stem)
