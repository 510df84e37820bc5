"""OPS002: suppressions that suppress nothing, among others that do."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, before, plant, swap
from evaluation.mutations.tree_places import AUTO, LLAMA_CONFIG, LLAMA_GPU, MODELS

ULYSSES = "veomni/distributed/sequence_parallel/ulysses.py"
MODULE_UTILS = "veomni/models/module_utils.py"
SWIGLU = "veomni/ops/kernels/swiglu/__init__.py"
QWEN3_INIT = MODELS + "qwen3/__init__.py"
FAULT = "def wait():\n    torch.cuda.synchronize()"


def _added(name: str, code: str, path: str = MODULE_UTILS) -> Mutation:
    """Add *code* at the end of a file."""
    return plant("OPS002", name, append(path, code))


MUTATIONS = (
    _added("noqa of a code", "scale = 1  # noqa: OPS201  # OPS002"),
    _added("noqa of two codes", "scale = 1  # noqa: OPS201, OPS301  # OPS002, OPS002"),
    _added("noqa of a prefix", "scale = 1  # noqa: OPS3  # OPS002"),
    _added("noqa of another tool as well", "import this  # noqa: F401, OPS101  # OPS002"),
    _added("noqa before the codes of another tool", "import this  # noqa: OPS101, F401, E402  # OPS002"),
    _added("noqa beside a used one", f"{FAULT}  # noqa: OPS205, OPS201  # OPS002"),
    _added("used one last", f"{FAULT}  # noqa: OPS201, OPS205  # OPS002"),
    _added("ignore with a reason", "scale = 1  # opslint: ignore[OPS201] the guard is elsewhere  # OPS002"),
    _added("ignore by name", "scale = 1  # opslint: ignore[unguarded-npu-import] the guard is elsewhere  # OPS002"),
    _added("ignore of two rules", f"{FAULT}  # opslint: ignore[OPS205, frozen-pointer] CUDA only  # OPS002"),
    _added(
        "ignore behind another comment", "scale = 1  # as in the paper  # opslint: ignore[OPS201] guarded  # OPS002"
    ),
    _added("ignore on a line of its own", "# opslint: ignore[OPS201] the guard is elsewhere  # OPS002\nscale = 1"),
    _added(
        "ignore in a function", "def scale(x):\n    # opslint: ignore[OPS305] checked above  # OPS002\n    return x"
    ),
    _added(
        "behind the last line of a statement",
        'SCALES = {\n    "a": 1,\n    "b": 2,\n}  # opslint: ignore[OPS301] no slot  # OPS002',
    ),
    _added(
        "inside a statement of several lines",
        'SCALES = {\n    "a": 1,  # opslint: ignore[OPS301] no slot  # OPS002\n    "b": 2,  # the other one\n}',
    ),
    _added("no such rule", "scale = 1  # opslint: ignore[unregistred-slot] old  # OPS002"),
    _added("no such code", "scale = 1  # noqa: OPS999  # OPS002"),
    _added("no such kind", "scale = 1  # opslint: ignored[OPS201] old  # OPS002"),
    _added("no rule", "scale = 1  # opslint: ignore everything  # OPS002"),
    plant(
        "OPS002",
        "whole file",
        before(AUTO, "import functools\n", "# opslint: ignore-file[OPS201] the whole file is guarded  # OPS002"),
    ),
    plant("OPS002", "in a generated file", append(LLAMA_GPU, "scale = 1  # opslint: ignore[OPS305] checked  # OPS002")),
    plant(
        "OPS002",
        "in a patch",
        swap(
            LLAMA_CONFIG,
            "        return veomni_swiglu_mlp(self, x)\n",
            "        return veomni_swiglu_mlp(self, x)  # opslint: ignore[OPS305] checked  # OPS002\n",
        ),
    ),
    plant(
        "OPS002",
        "many in one file",
        append(
            ULYSSES,
            "a = 1  # noqa: OPS201  # OPS002\n"
            "b = 2  # opslint: ignore[OPS202] guarded  # OPS002\n"
            "# opslint: ignore[OPS205] CUDA only  # OPS002\n"
            "c = 3\n"
            "d = 4  # noqa: E501, OPS301, OPS101  # OPS002, OPS002\n"
            f"{FAULT}  # noqa: OPS205",
        ),
    ),
    plant(
        "OPS002",
        "in two files",
        append(SWIGLU, "a = 1  # noqa: OPS101  # OPS002"),
        append(QWEN3_INIT, "b = 1  # noqa: OPS401  # OPS002"),
    ),
    _added("harmless: used noqa", f"{FAULT}  # noqa: OPS205"),
    _added("harmless: used by name", f"{FAULT}  # opslint: ignore[device-specific-call] CUDA only"),
    _added(
        "harmless: used above", "def wait():\n    # opslint: ignore[OPS205] CUDA only\n    torch.cuda.synchronize()"
    ),
    _added("harmless: noqa of another tool", "scale = 1  # noqa: E501, F401"),
    _added("harmless: text", 'scale = "# noqa: OPS201"'),
    plant("OPS002", "harmless: used for the file", append(AUTO, f"# opslint: ignore-file[OPS205] CUDA only\n{FAULT}")),
)
