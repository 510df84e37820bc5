"""What the interpreter of the program is asked: names of the dialect, and limits."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from veomni_opslint.model import OpsModel
from veomni_opslint.model.model_files import model_files
from veomni_opslint.project_metadata import MODULE_OF_DISTRIBUTION

_DEFAULT_JOBS = 4


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """How to run the program. ``memory`` is in bytes; ``device_index`` is the accelerator of a rank."""

    python: str = sys.executable
    timeout: float = 60.0
    import_timeout: float = 300.0
    memory: int = 16 << 30
    jobs: int = min(_DEFAULT_JOBS, os.cpu_count() or 1)
    simulate: str = ""
    call: bool = False
    job_file: str = ""
    model: str = ""
    device_index: int | None = None


def child_environment() -> dict[str, str]:
    """What is set for the program.

    Asking NVML instead of CUDA whether there is a GPU leaves CUDA alone, so that forked processes can use it.
    """
    return {"PYTORCH_NVML_BASED_CUDA_CHECK": "1", "PYTHONUNBUFFERED": "1"}


def runtime_request(model: OpsModel, options: RuntimeOptions) -> dict[str, object]:
    """The request for a process that imports the ops package; its ``only`` asks for one answer."""
    dialect, project = model.dialect, model.project
    return {
        "path": os.path.join(project.root, os.path.dirname(project.package_path)),
        "package": model.package,
        "package_folder": os.path.join(project.root, project.package_path),
        "ops_package": model.ops_package,
        "registry": dialect.registry,
        "kernel_spec": dialect.kernel_spec,
        "register_op": dialect.register_op,
        "op_spec": dialect.op_spec,
        "op_slot": dialect.op_slot,
        "config_slot": dialect.config_slot,
        "slot_modules": [file.module for file in model_files(model)],
        "ops_config": dialect.ops_config,
        "config_module": model.ops_config.module if model.ops_config is not None else "",
        "resolve_method": dialect.resolve_method,
        "hardware_check": dialect.hardware_check,
        "examples_module": dialect.examples_module,
        "examples_table": dialect.examples_table,
        "call": options.call,
        "optional": list(dialect.optional_packages),
        "npu_packages": list(dialect.npu_packages),
        "module_of_distribution": MODULE_OF_DISTRIBUTION,
        "simulate": options.simulate,
        "device_index": options.device_index,
        "timeout": options.timeout,
        "memory": options.memory,
        "jobs": options.jobs,
        "bind": None,
        "only": None,
    }
