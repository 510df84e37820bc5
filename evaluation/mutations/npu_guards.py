"""OPS201: ``torch_npu`` moved out of the guard that it stands behind in a shared module, and near misses."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, plant, swap
from evaluation.mutations.tree_places import ASYNC_ULYSSES, HELPER

GUARDED = "if IS_NPU_AVAILABLE:\n    import torch_npu\n"


def _guard(name: str, new: str) -> Mutation:
    """Put *new* in place of the guarded import of a shared module."""
    return plant("OPS201", name, swap(ASYNC_ULYSSES, GUARDED, new + "\n"))


def _function(name: str, body: str) -> Mutation:
    """Add a function with this body to the shared helpers."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return plant("OPS201", name, append(HELPER, f"def device_memory(devices=(), verbose=False):\n{lines}"))


def _decorated(name: str, guard: str, line: str) -> Mutation:
    """A function with a decorator of the project, which puts another in its place where the guard is false."""
    code = (
        f"def _where(fn):\n    from veomni.utils.device import {guard}\n\n"
        f"    return fn if {guard} else lambda: None\n\n\n@_where\ndef device_memory():\n    {line}"
    )
    return plant("OPS201", name, append(HELPER, code))


def _chosen(name: str, new: str) -> Mutation:
    """Put *new* in place of the guarded import, after a function and a table that a guard decides."""
    code = (
        '_KINDS = [(IS_NPU_AVAILABLE, "npu"), (True, "gpu")]\n\n\ndef _kind():\n'
        '    if IS_NPU_AVAILABLE:\n        return "npu"\n    return "gpu"\n\n\n'
    )
    return _guard(name, code + new)


MUTATIONS = (
    _function(
        "late: exception of the guard suppressed",
        "import contextlib\n\nfrom veomni.utils.device import IS_NPU_AVAILABLE\n\n"
        "with contextlib.suppress(AssertionError):\n    assert IS_NPU_AVAILABLE\nimport torch_npu  # OPS201",
    ),
    _function(
        "late: attribute of a class that says the opposite",
        "from veomni.utils.device import IS_NPU_AVAILABLE\n\n"
        "class Flags:\n    other = not IS_NPU_AVAILABLE\n\nif Flags.other:\n    import torch_npu  # OPS201",
    ),
    _decorated("decorator that asks for CUDA", "IS_CUDA_AVAILABLE", "import torch_npu  # OPS201"),
    _decorated("harmless decorator", "IS_NPU_AVAILABLE", "import torch_npu"),
    _chosen("constant of a function for the other device", 'if _kind() == "gpu":\n    import torch_npu  # OPS201'),
    _chosen("harmless constant of a function", 'if _kind() == "npu":\n    import torch_npu'),
    _chosen("harmless table", 'for there, kind in _KINDS:\n    if there and kind == "npu":\n        import torch_npu'),
    _chosen(
        "harmless choice from a table", 'if next(k for there, k in _KINDS if there) == "npu":\n    import torch_npu'
    ),
    _guard("guard removed", "import torch_npu  # OPS201"),
    _guard("guard negated", "if not IS_NPU_AVAILABLE:\n    import torch_npu  # OPS201"),
    _guard("in the else branch", "if IS_NPU_AVAILABLE:\n    pass\nelse:\n    import torch_npu  # OPS201"),
    _guard(
        "in an elif branch", "if IS_NPU_AVAILABLE:\n    pass\nelif IS_CUDA_AVAILABLE:\n    import torch_npu  # OPS201"
    ),
    _guard("unrelated condition", "if IS_CUDA_AVAILABLE:\n    import torch_npu  # OPS201"),
    _guard("condition that always holds", "if True:\n    import torch_npu  # OPS201"),
    _guard("or instead of and", "if IS_NPU_AVAILABLE or IS_CUDA_AVAILABLE:\n    import torch_npu  # OPS201"),
    _guard("negated conjunction", "if not (IS_NPU_AVAILABLE and IS_CUDA_AVAILABLE):\n    import torch_npu  # OPS201"),
    _guard(
        "nested in the wrong branch",
        "if IS_CUDA_AVAILABLE:\n    if not IS_NPU_AVAILABLE:\n        import torch_npu  # OPS201",
    ),
    _guard(
        "guard function not called",
        "from veomni.utils.import_utils import is_torch_npu_available\n\n"
        "if is_torch_npu_available:\n    import torch_npu  # OPS201",
    ),
    _guard("guard compared with None", "if IS_NPU_AVAILABLE is not None:\n    import torch_npu  # OPS201"),
    _guard("guard compared with False", "if IS_NPU_AVAILABLE == False:\n    import torch_npu  # OPS201"),
    _guard(
        "guard variable set again",
        "_ON_NPU = IS_NPU_AVAILABLE\n_ON_NPU = True\nif _ON_NPU:\n    import torch_npu  # OPS201",
    ),
    _guard(
        "guard variable of another device", "_ON_NPU = IS_CUDA_AVAILABLE\nif _ON_NPU:\n    import torch_npu  # OPS201"
    ),
    _guard("negated guard variable", "_NO_NPU = not IS_NPU_AVAILABLE\nif _NO_NPU:\n    import torch_npu  # OPS201"),
    _guard("walrus", "if _no_npu := not IS_NPU_AVAILABLE:\n    import torch_npu  # OPS201"),
    _guard(
        "conditional expression",
        'torch_npu = None if IS_NPU_AVAILABLE else importlib.import_module("torch_npu")  # OPS201',
    ),
    _guard("short circuit with or", 'torch_npu = IS_NPU_AVAILABLE or importlib.import_module("torch_npu")  # OPS201'),
    _guard("import_module", 'torch_npu = importlib.import_module("torch_npu")  # OPS201'),
    _guard("dunder import", 'torch_npu = __import__("torch_npu")  # OPS201'),
    _guard(
        "import_module by name",
        'from importlib import import_module\n\ntorch_npu = import_module("torch_npu")  # OPS201',
    ),
    _guard(
        "name of the module in a constant", '_NPU = "torch_npu"\ntorch_npu = importlib.import_module(_NPU)  # OPS201'
    ),
    _guard("part of the package", "import torch_npu.profiler  # OPS201"),
    _guard("name from the package", "from torch_npu import npu_rms_norm  # OPS201"),
    _guard("name from a module of the package", "from torch_npu.contrib import transfer_to_npu  # OPS201"),
    _guard("torch.npu imported", "from torch import npu  # OPS201"),
    _guard("after another import on the line", "import math, torch_npu  # OPS201"),
    _guard("in a class body", "class _Ascend:\n    import torch_npu  # OPS201"),
    _guard("in a default argument", 'def _norm(npu=__import__("torch_npu")):  # OPS201\n    return npu'),
    _guard(
        "in a decorator argument",
        "def _with(module):\n    return lambda function: function\n\n\n"
        '@_with(importlib.import_module("torch_npu"))  # OPS201\ndef _norm():\n    return 1',
    ),
    _guard("in a loop", "for _ in range(1):\n    import torch_npu  # OPS201"),
    _guard("in a while loop", "while not IS_NPU_AVAILABLE:\n    import torch_npu  # OPS201\n\n    break"),
    _guard("in a comprehension", '_MODULES = [importlib.import_module("torch_npu") for _ in range(1)]  # OPS201'),
    _guard("in a with block", "with torch.no_grad():\n    import torch_npu  # OPS201"),
    _guard(
        "in try with another exception",
        "try:\n    import torch_npu  # OPS201\nexcept ValueError:\n    torch_npu = None",
    ),
    _guard("in try without except", "try:\n    import torch_npu  # OPS201\nfinally:\n    torch_ready = True"),
    _guard("in try that raises again", "try:\n    import torch_npu  # OPS201\nexcept ImportError:\n    raise"),
    _guard("in the except block", "try:\n    import apex\nexcept ImportError:\n    import torch_npu  # OPS201"),
    _guard(
        "in the else of try",
        "try:\n    import math\nexcept ImportError:\n    pass\nelse:\n    import torch_npu  # OPS201",
    ),
    _guard(
        "in the default case of match",
        "match IS_NPU_AVAILABLE:\n    case True:\n        pass\n    case _:\n        import torch_npu  # OPS201",
    ),
    _guard(
        "in a helper called at import",
        "def _load():\n    import torch_npu  # OPS201:a\n\n    return torch_npu\n\n\n_load()  # OPS201:a",
    ),
    _guard(
        "in a lambda called at import",
        '_load = lambda: importlib.import_module("torch_npu")  # OPS201:a\n_load()  # OPS201:a',
    ),
    _guard(
        "under a project function that returns another device",
        "def _ready():\n    return IS_CUDA_AVAILABLE\n\n\nif _ready():\n    import torch_npu  # OPS201",
    ),
    _guard(
        "under a project function that returns true",
        "def _ready():\n    if IS_NPU_AVAILABLE:\n        return True\n    return True\n\n\n"
        "if _ready():\n    import torch_npu  # OPS201",
    ),
    _guard("under an environment variable", 'import os\n\nif os.getenv("USE_NPU"):\n    import torch_npu  # OPS201'),
    _guard(
        "type checking negated",
        "from typing import TYPE_CHECKING\n\nif not TYPE_CHECKING:\n    import torch_npu  # OPS201",
    ),
    _function("early return removed", "import torch_npu  # OPS201\n\nreturn 1"),
    _function(
        "early return on the wrong side",
        "if IS_NPU_AVAILABLE:\n    return None\nimport torch_npu  # OPS201\n\nreturn 1",
    ),
    _function(
        "no exit after the check",
        "if not IS_NPU_AVAILABLE:\n    print('no NPU')\nimport torch_npu  # OPS201\n\nreturn 1",
    ),
    _function(
        "early return under a second condition",
        "if not IS_NPU_AVAILABLE and verbose:\n    return None\nimport torch_npu  # OPS201\n\nreturn 1",
    ),
    _function(
        "early return in an inner function",
        "def check():\n    if not IS_NPU_AVAILABLE:\n        return None\n\n"
        "check()\nimport torch_npu  # OPS201\n\nreturn 1",
    ),
    _function(
        "continue only leaves the loop",
        "for _ in devices:\n    if not IS_NPU_AVAILABLE:\n        continue\nimport torch_npu  # OPS201\n\nreturn 1",
    ),
    _function("assertion of the opposite", "assert not IS_NPU_AVAILABLE\nimport torch_npu  # OPS201\n\nreturn 1"),
    _function("before the check", "import torch_npu  # OPS201\n\nif not IS_NPU_AVAILABLE:\n    return None\nreturn 1"),
    _function(
        "after both branches joined",
        "if IS_NPU_AVAILABLE:\n    size = 1\nelse:\n    size = 2\nimport torch_npu  # OPS201\n\nreturn size",
    ),
    _function(
        "raise only when verbose",
        "if not IS_NPU_AVAILABLE:\n    if verbose:\n        raise RuntimeError('no NPU')\n"
        "import torch_npu  # OPS201\n\nreturn 1",
    ),
    _guard("harmless: more conditions", "if IS_NPU_AVAILABLE and not IS_CUDA_AVAILABLE:\n    import torch_npu"),
    _guard("harmless: guard variable", "_ON_NPU = IS_NPU_AVAILABLE\nif _ON_NPU:\n    import torch_npu"),
    _guard("harmless: else of the negation", "if not IS_NPU_AVAILABLE:\n    pass\nelse:\n    import torch_npu"),
    _guard("harmless: compared with True", "if IS_NPU_AVAILABLE is True:\n    import torch_npu"),
    _guard(
        "harmless: guard function",
        "from veomni.utils.import_utils import is_torch_npu_available\n\n"
        "if is_torch_npu_available():\n    import torch_npu",
    ),
    _guard(
        "harmless: project function that returns the guard",
        "def _ready():\n    return IS_NPU_AVAILABLE\n\n\nif _ready():\n    import torch_npu",
    ),
    _guard(
        "harmless: conditional expression",
        'torch_npu = importlib.import_module("torch_npu") if IS_NPU_AVAILABLE else None',
    ),
    _guard("harmless: short circuit with and", 'torch_npu = IS_NPU_AVAILABLE and importlib.import_module("torch_npu")'),
    _guard("harmless: try", "try:\n    import torch_npu\nexcept ImportError:\n    torch_npu = None"),
    _guard("harmless: suppressed", "import contextlib\n\nwith contextlib.suppress(ImportError):\n    import torch_npu"),
    _guard("harmless: type checking", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch_npu"),
    _guard(
        "harmless: find_spec",
        'import importlib.util\n\nif importlib.util.find_spec("torch_npu") is not None:\n    import torch_npu',
    ),
    _guard(
        "harmless: device type",
        'from veomni.utils.device import get_device_type\n\nif get_device_type() == "npu":\n    import torch_npu',
    ),
    _guard(
        "harmless: match",
        "match IS_NPU_AVAILABLE:\n    case True:\n        import torch_npu\n    case _:\n        pass",
    ),
    _function("harmless: early return", "if not IS_NPU_AVAILABLE:\n    return None\nimport torch_npu\n\nreturn 1"),
    _function(
        "harmless: early raise",
        "if not IS_NPU_AVAILABLE:\n    raise RuntimeError('no NPU')\nimport torch_npu\n\nreturn 1",
    ),
    _function("harmless: assertion", "assert IS_NPU_AVAILABLE, 'no NPU'\nimport torch_npu\n\nreturn 1"),
    _function(
        "harmless: continue",
        "for _ in devices:\n    if not IS_NPU_AVAILABLE:\n        continue\n    import torch_npu\nreturn 1",
    ),
    _function(
        "harmless: either check", "if verbose or not IS_NPU_AVAILABLE:\n    return None\nimport torch_npu\n\nreturn 1"
    ),
)
