"""Fixes of code that is laid out in ways that nobody writes on purpose, and that stand in real files all the same."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.projects import request_of, write_base_tree, write_files

from veomni_opslint.check import Request
from veomni_opslint.fixing.rounds import repair
from veomni_opslint.rule_loader import Selection

MODEL = "veomni/models/odd/model_{}.py"
KERNELS = "veomni/ops/kernels/odd_{}/__init__.py"
MOE = """_fused_moe_forward = None


def fused_moe_forward(hidden_states):
    if _fused_moe_forward is None:
        raise NotImplementedError("no fused MoE kernel is bound")
    return _fused_moe_forward(hidden_states)


def apply_veomni_fused_moe_patch(kernel):
    global _fused_moe_forward
    _fused_moe_forward = kernel
"""
DEVICE = """def get_device_type():
    return "cuda"


def get_torch_device():
    return None


def get_dist_comm_backend():
    return "nccl"
"""
SLOTS = (
    "from veomni.ops.dispatch import OpSlot\n\n"
    'slot = OpSlot("rms_norm", "standard")\nother = OpSlot("swiglu_mlp", "standard")\n'
)
REGISTRY = (
    "from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec\n\n\n"
    "def kernel(x):\n    return x\n"
)
POINTER = "from veomni.ops.kernels.moe import _fused_moe_forward as bound"
POINTERS = "from veomni.ops.kernels.moe import (_fused_moe_forward as bound, # odd\n  fused_moe_forward)"
SPEC = 'KernelSpec("odd", "swiglu_mlp", "standard", {}, HardwareRequirement("gpu"))'
LAZY = SPEC.format("lambda: kernel")
TOP = '# A comment; with "quotes" and a \\ backslash\n"""A docstring."""\n'
ODD_TEXT = 'ODD = """no comment: # noqa\n\t tab and blanks  \n    import nothing\n"""\n'
TAIL = "\nLAST = (1,\n   2) ;  NEVER_TOUCHED = 'x'   # the end"


@dataclass(frozen=True)
class Layout:
    """How a piece of code is written."""

    indent: str
    line_end: str
    comment: str
    above: str
    around: tuple[str, ...]
    decorator: str
    separate: bool
    last_line_end: bool


LAYOUTS = st.builds(
    Layout,
    indent=st.sampled_from(["    ", "  ", "\t"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    comment=st.sampled_from(["", "  # why", "# noqa: E501"]),
    above=st.sampled_from(["", "# above\n", "\n# above\n\n"]),
    around=st.lists(
        st.sampled_from(
            ["if ODD:", "def outer(a=(1,\n    2)):", "class Outer:", "for one in ODD:", "with open(ODD) as one:"]
        ),
        max_size=2,
    ).map(tuple),
    decorator=st.sampled_from(["", "@staticmethod\n", "@print  # it is decorated\n"]),
    separate=st.booleans(),
    last_line_end=st.booleans(),
)


def function(body: str, layout: Layout) -> str:
    """A function with that body, inside of whatever the layout puts around it."""
    return within(f"{layout.decorator}def f(self, x):\n    k = 0\n" + indented(layout.above + body), layout)


def within(code: str, layout: Layout) -> str:
    """*code* inside of whatever the layout puts around it."""
    for outer in layout.around:
        code = f"{outer}\n{indented(code)}"
    return code


def indented(code: str) -> str:
    """One level deeper."""
    return "".join(f"    {line}" if line.strip() else line for line in code.splitlines(keepends=True))


def guarded(test: str) -> Callable[[Layout], str]:
    """A call of the slot under *test*, as a block or in one line."""

    def body(layout: Layout) -> str:
        if layout.separate:
            return function(f"if {test}: return slot(x){layout.comment}\nreturn x\n", layout)
        return function(f"if {test}:{layout.comment}\n    return slot(\n        x)\nreturn x\n", layout)

    return body


def unguarded(layout: Layout) -> str:
    """A call of the slot, before code that never runs; perhaps behind a semicolon."""
    beginning = "k = 1; " * layout.separate
    return function(f"{beginning}return slot(x){layout.comment}\nreturn x\n", layout)


def in_function(*statements: str) -> Callable[[Layout], str]:
    """One of the statements or, with semicolons, all of them in one line."""

    def body(layout: Layout) -> str:
        code = "; ".join(statements) if layout.separate else statements[0]
        return function(f"{code}{layout.comment}\nreturn x\n", layout)

    return body


def at_import(*statements: str) -> Callable[[Layout], str]:
    """Statements of the module, one in a line or with semicolons, and functions that use what they bind."""

    def body(layout: Layout) -> str:
        lines = "; ".join(statements) if layout.separate else f"{layout.comment}\n".join(statements)
        use = function("return bound.a(x) \\\n    + bound.b(x)\n", layout)
        return f"{layout.above}{lines}{layout.comment}\n\n\n{use}\n\ndef g(x): return bound.c(x)\n"

    return body


def alone(*statements: str) -> Callable[[Layout], str]:
    """One of the statements or, with semicolons, all of them in one line, with something around them."""

    def body(layout: Layout) -> str:
        code = "; ".join(statements) if layout.separate else statements[0]
        return within(f"{layout.above}{code}{layout.comment}\n", layout)

    return body


Case = tuple[str, str, str, Callable[[Layout], str]]
CASES: list[Case] = [
    ("OPS002", MODEL, "", alone("scale = 1  # noqa: OPS201\nodd = 2")),
    ("OPS002", MODEL, "", in_function("k = 1  # opslint: ignore[OPS201, OPS305] no reason\nk = 2")),
    ("OPS305", MODEL, SLOTS, guarded("slot")),
    ("OPS305", MODEL, SLOTS, guarded("slot.is_bound")),
    ("OPS305", MODEL, SLOTS, guarded("not slot.use_non_eager_impl")),
    ("OPS305", MODEL, SLOTS, guarded("x is None or self.training")),
    ("OPS305", MODEL, SLOTS, guarded("(self.training\n        or x)")),
    ("OPS305", MODEL, SLOTS, guarded("other.use_non_eager_impl")),
    ("OPS305", MODEL, SLOTS, unguarded),
    ("OPS306", MODEL, SLOTS, in_function("self.fn = slot", "self.k = k")),
    ("OPS306", MODEL, SLOTS, in_function("self.fns = [\n    slot,\n]", "self.k = k")),
    ("OPS306", MODEL, SLOTS, in_function("self.fn = slot.__call__ if x \\\n    else None")),
    ("OPS402", MODEL, "", at_import(POINTER, "import os")),
    ("OPS402", MODEL, "", at_import(POINTERS)),
    ("OPS402", MODEL, "from veomni.ops.kernels import moe\n", alone("KEPT = moe._fused_moe_forward", "ODDS = ODD")),
    ("OPS101", KERNELS, REGISTRY, at_import("import triton as bound", "import os")),
    ("OPS101", KERNELS, REGISTRY, at_import("import os, triton as bound", "import re")),
    ("OPS101", KERNELS, REGISTRY, at_import("try:\n    from triton import language as bound\nfinally:\n    ODD = 2")),
    ("OPS102", KERNELS, REGISTRY, alone(f"KERNEL_REGISTRY.register({SPEC.format('kernel')})", "ODDS = ODD")),
    ("OPS102", KERNELS, REGISTRY, alone(f"KERNEL_REGISTRY.register({SPEC.format('lambda x: kernel')})")),
    ("OPS104", KERNELS, REGISTRY, alone(f"ODDS = [KERNEL_REGISTRY.register({LAZY})]", "A = 1")),
    ("OPS104", KERNELS, REGISTRY, alone(f"odds = KERNEL_REGISTRY.register(\n  {LAZY})")),
    ("OPS201", MODEL, "", at_import("import torch_npu as bound", "import os")),
    ("OPS201", MODEL, "", at_import("import os, torch_npu as bound", "import re")),
    ("OPS201", MODEL, "", at_import("from torch_npu import (\n    npu as bound,\n)")),
    ("OPS205", MODEL, "import torch\n", in_function("torch.cuda.synchronize()", "k = 2")),
    ("OPS205", MODEL, "import torch\n", in_function('x = torch.zeros(1, device="cuda")', "k = 2")),
    ("OPS205", MODEL, "import torch\n", in_function("x = x.float() \\\n    .cuda()", "k = 2")),
    ("OPS205", MODEL, "import torch\n", in_function('x = x.to(f"cuda:{k}")')),
]  # fmt: skip


PATHS = [path.format(number) for number, (_, path, _, _) in enumerate(CASES)]


@pytest.fixture(scope="module")
def request_of_all(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """A run of these rules over the base tree with pointers, all device helpers, and files whose contents are odd."""
    root = tmp_path_factory.mktemp("tree")
    write_base_tree(root)
    kernels = "".join(f"from . import {path.split('/')[-2]}\n" for path in PATHS if path.endswith("__init__.py"))
    write_files(
        root,
        {
            "veomni/ops/kernels/moe/__init__.py": MOE,
            "veomni/utils/device.py": DEVICE,
            "veomni/ops/kernels/__init__.py": kernels,
            "veomni/models/odd/__init__.py": "",
            **dict.fromkeys(PATHS, ""),
        },
    )
    return replace(request_of(root, ""), selection=Selection(select=tuple({code for code, _, _, _ in CASES})))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layout=LAYOUTS)
def test_fixes(request_of_all: Request, layout: Layout) -> None:
    """Every fix that is offered is made, the rest of each file stays, and a second run changes nothing."""
    texts = {path: written(case, layout) for path, case in zip(PATHS, CASES, strict=True)}
    tail = ended(TAIL + "\n" * layout.last_line_end, layout)
    for text in texts.values():
        ast.parse(text)
    request = replace(request_of_all, contents={path: text.encode() for path, text in texts.items()})
    result = repair(request, unsafe=True)
    assert [f"{finding.place} {finding.code}: {reason}" for finding, reason in result.refused] == []
    assert [str(finding.place) for finding in result.checked.report.findings if finding.fix is not None] == []
    for file in result.files:
        after = file.after.decode()
        ast.parse(after)
        assert after.startswith(ended(TOP, layout))
        assert ended(ODD_TEXT, layout) in after
        assert after.endswith(tail)
        assert not set("\r\n") & set(after.replace(layout.line_end, ""))
    contents = {**request.contents, **{file.path: file.after for file in result.files}}
    assert repair(replace(request, contents=contents), unsafe=True).files == ()


def test_all_are_fixed_as_they_are_usually_written(request_of_all: Request) -> None:
    """With nothing odd about the layout each fault has a fix, so that the test above is about something."""
    usual = Layout("    ", "\n", "", "", (), "", separate=False, last_line_end=True)
    contents = {path: written(case, usual).encode() for path, case in zip(PATHS, CASES, strict=True)}
    result = repair(replace(request_of_all, contents=contents), unsafe=True)
    assert {path: code for path, (code, _, _, _) in zip(PATHS, CASES, strict=True) if (code, path) in result.fixed} == {
        path: code for path, (code, _, _, _) in zip(PATHS, CASES, strict=True)
    }
    assert [str(finding.place) for finding in result.checked.report.findings] == []


def test_statement_in_the_line_of_the_docstring(tmp_path: Path) -> None:
    """An import is not moved there: it would come behind what needs it."""
    text = f'{POINTER}\n\n\ndef use(x):\n    "One."; return bound(x)\n'
    write_base_tree(tmp_path)
    write_files(tmp_path, {"veomni/ops/kernels/moe/__init__.py": MOE, "veomni/models/use.py": text})
    result = repair(request_of(tmp_path, "OPS402"), unsafe=True)
    assert result.files == ()
    assert [reason for _, reason in result.refused] == ["the line of the docstring holds another statement, too"]


def test_same_message_where_there_is_no_help(tmp_path: Path) -> None:
    """A fix that is of no use in one line does not hold up those of other lines with the same fault."""
    text = "\n\ndef use(x):\n    y = (x\n         .cuda()\n         .float().cuda())\n    return y.{}\n"
    guard = "from .import_utils import is_torch_npu_available\n\nIS_NPU_AVAILABLE = is_torch_npu_available()\n\n\n"
    write_base_tree(tmp_path)
    path = "veomni/models/use.py"
    write_files(tmp_path, {"veomni/utils/device.py": guard + DEVICE, path: f"import torch\n{text.format('cuda()')}"})
    result = repair(request_of(tmp_path, "OPS205"), unsafe=True)
    imports = "import torch\n\nfrom veomni.utils.device import get_device_type\n"
    helped = imports + text.format("to(get_device_type())")
    assert {file.path: file.after.decode() for file in result.files} == {path: helped}
    assert [reason for _, reason in result.refused] == ["it would not help"]


def written(case: Case, layout: Layout) -> str:
    """The file of a case."""
    _, _, head, piece = case
    body = piece(layout).replace("    ", layout.indent)
    return ended(f"{TOP}{head}{ODD_TEXT}{body}{TAIL}" + "\n" * layout.last_line_end, layout)


def ended(text: str, layout: Layout) -> str:
    """*text* with the line ends of the layout."""
    return text.replace("\n", layout.line_end)
