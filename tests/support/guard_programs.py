"""Random programs around NPU imports, which ``guard_child.py`` runs to see which imports are really reached."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEADER = """\
import contextlib
import importlib

from ..inputs import device_type, flag, may_fail, times
from ..utils.device import IS_NPU_AVAILABLE
from ..utils.import_utils import is_torch_npu_available


class _Flags:
    on_npu = is_torch_npu_available()
    otherwise = not on_npu


@contextlib.contextmanager
def _npu_only():
    if not is_torch_npu_available():
        raise RuntimeError("no NPU")
    yield


@contextlib.contextmanager
def _anywhere():
    yield _Flags.on_npu

"""

INPUTS = """\
from .utils.import_utils import is_torch_npu_available

CUDA = 9
FLAGS = {}


def flag(index):
    return FLAGS.get(index, False)


def times(index):
    return 2 if FLAGS.get(index, False) else 0


def device_type():
    return "npu" if is_torch_npu_available() else "cuda" if flag(CUDA) else "cpu"


def may_fail(index, error=ImportError):
    if flag(index):
        raise error
"""


@dataclass
class GuardProgram:
    """Builds the text of one module with functions ``main`` and helpers, all reached from ``main``."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    budget: int = 14
    first_flag: int = 20

    def text(self) -> str:
        """The module; FLAGS_USED names the inputs that its run depends on."""
        wrappers = self.random.sample(["_on_npu", "_npu_and_flag", "_require"], k=self.random.randint(0, 3))
        self.lines.append(HEADER)
        for wrapper in wrappers:
            self.lines.append(_WRAPPERS[wrapper])
        self.wrappers = wrappers
        names = [f"_helper_{index}" for index in range(self.random.randint(0, 2))]
        for name in names:
            self.function(name)
            self.helpers.append(name)
        self.function("main", calls=names)
        if "_npu_and_flag" in wrappers and 0 not in self.flags:
            self.flags.append(0)
        if "device_type" in "".join(self.lines[1:]):
            self.flags.append(9)
        self.lines.append(f"FLAGS_USED = {str(sorted(set(self.flags)))!r}")
        return "\n".join(self.lines) + "\n"

    def function(self, name: str, calls: list[str] | None = None) -> None:
        self.variables = []
        self.first_flag += 2
        self.lines.append(f"def {name}():")
        self.block(1, in_loop=False)
        for call in calls or ():
            if self.random.random() < 0.5:
                self.emit(1, f"if {self.condition()}:")
                self.emit(2, f"{call}()")
            else:
                self.emit(1, f"{call}()")
        self.emit(1, "return None")
        self.lines.append("\n")

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        self.budget -= 1
        simple = ["import", "assign", "exit", "assert", "call", "expression", "require"]
        nested = [
            "if",
            "if_else",
            "elif",
            "for",
            "for_maybe",
            "while",
            "match",
            "try",
            "try_else",
            "with",
            "guarding",
            "suppressed",
        ]
        nested += ["def"]
        kind = self.random.choice(simple if self.budget <= 0 or depth > 4 else simple + nested * 2)
        getattr(self, f"_{kind}")(depth, in_loop)

    def flag(self) -> int:
        index = self.first_flag + self.random.randint(0, 1)
        self.flags.append(index)
        return index

    def condition(self, depth: int = 0) -> str:
        choices = ["is_torch_npu_available()", "IS_NPU_AVAILABLE", 'device_type() == "npu"', f"flag({self.flag()})"]
        choices += ["_Flags.on_npu", "_Flags.otherwise"]
        choices += self.variables * 2
        choices += [f"{wrapper}()" for wrapper in self.wrappers if wrapper != "_require"]
        if depth < 2 and self.random.random() < 0.5:
            left, right = self.condition(depth + 1), self.condition(depth + 1)
            return self.random.choice(
                [f"not ({left})", f"({left} and {right})", f"({left} or {right})", f"({left} if {right} else False)"]
            )
        return self.random.choice(choices)

    def _import(self, depth: int, in_loop: bool) -> None:
        self.emit(
            depth,
            self.random.choice(
                ["import torch_npu", 'importlib.import_module("torch_npu")', "from torch_npu import profiler"]
            ),
        )

    def _assign(self, depth: int, in_loop: bool) -> None:
        name = self.random.choice(["ok", "ready", "usable"])
        self.emit(depth, f"{name} = bool({self.condition()})")
        if depth == 1 and name not in self.variables:
            self.variables.append(name)

    def _exit(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"if {self.condition()}:")
        exits = ["return None", 'raise RuntimeError("stop")']
        self.emit(depth + 1, self.random.choice(exits + (["continue", "break"] if in_loop else [])))

    def _assert(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"assert {self.condition()}")

    def _call(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"{self.random.choice(self.helpers)}()" if self.helpers else "pass")

    def _expression(self, depth: int, in_loop: bool) -> None:
        condition = self.condition()
        form = self.random.choice(
            [
                "{0} and __import__('torch_npu')",
                "__import__('torch_npu') if {0} else None",
                "{0} or __import__('torch_npu')",
            ]
        )
        self.emit(depth, "value = " + form.format(f"({condition})"))

    def _require(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "_require()" if "_require" in self.wrappers else "pass")

    def _if(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.block(depth + 1, in_loop)

    def _if_else(self, depth: int, in_loop: bool) -> None:
        self._if(depth, in_loop)
        self.emit(depth, "else:")
        self.block(depth + 1, in_loop)

    def _elif(self, depth: int, in_loop: bool) -> None:
        self._if(depth, in_loop)
        self.emit(depth, f"elif {self.condition()}:")
        self.block(depth + 1, in_loop)
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.block(depth + 1, in_loop)

    def _for(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"for _ in {self.random.choice(['range(2)', '(1, 2)'])}:")
        self.block(depth + 1, True)

    def own_flag(self) -> int:
        """An input that nothing else depends on, of which a program has few since it is run with all of them."""
        index = 10 + sum(10 <= flag < 20 for flag in self.flags)
        self.flags.append(index)
        return index

    def _for_maybe(self, depth: int, in_loop: bool) -> None:
        if sum(10 <= flag < 20 for flag in self.flags) > 2:
            return self._for(depth, in_loop)
        index = self.own_flag()
        self.emit(depth, f"for _ in range(times({index})):")
        self.block(depth + 1, True)
        return None

    def _while(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"while {self.condition()}:")
        self.block(depth + 1, False)
        self.emit(depth + 1, "break")

    def _match(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "match device_type():")
        first = self.random.choice(['"npu"', '"npu" | "ascend"', '"cuda"'])
        self.emit(depth + 1, f"case {first}:")
        self.block(depth + 2, in_loop)
        if self.random.random() < 0.6:
            self.emit(depth + 1, "case _:")
            self.block(depth + 2, in_loop)

    def _try(self, depth: int, in_loop: bool) -> None:
        if sum(10 <= flag < 20 for flag in self.flags) > 2:
            return self._import(depth, in_loop)
        index = self.own_flag()
        caught = self.random.choice(["ImportError", "(ImportError, OSError)", "Exception", "KeyError"])
        raised = "KeyError" if caught == "KeyError" else "ImportError"
        self.emit(depth, "try:")
        self.emit(depth + 1, f"may_fail({index}, {raised})")
        self.block(depth + 1, in_loop)
        self.emit(depth, f"except {caught}:")
        self.emit(depth + 1, self.random.choice(["pass", "return None"]))
        return None

    def _try_else(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "try:")
        self.emit(depth + 1, "import torch_npu")
        self.emit(depth, "except ImportError:")
        self.emit(depth + 1, self.random.choice(["ok = False", "return None", "raise"]))
        self.emit(depth, "else:")
        self.emit(depth + 1, "ok = True")

    def _with(self, depth: int, in_loop: bool) -> None:
        if sum(10 <= flag < 20 for flag in self.flags) > 2:
            return self._import(depth, in_loop)
        manager = self.random.choice(["contextlib.suppress(ImportError)", "contextlib.nullcontext()"])
        self.emit(depth, f"with {manager}:")
        self.emit(depth + 1, f"may_fail({self.own_flag()})")
        self.block(depth + 1, False)
        return None

    def _guarding(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"with {self.random.choice(['_npu_only()', '_anywhere()'])}:")
        self.block(depth + 1, in_loop)

    def _suppressed(self, depth: int, in_loop: bool) -> None:
        self.emit(
            depth, f"with contextlib.suppress({self.random.choice(['RuntimeError', 'AssertionError', 'KeyError'])}):"
        )
        self.block(depth + 1, in_loop)

    def _def(self, depth: int, in_loop: bool) -> None:
        if self.first_flag == 40 or 40 in self.flags or 41 in self.flags:
            return self._import(depth, in_loop)
        name = f"_inner_{len(self.lines)}"
        self.emit(depth, f"def {name}():")
        saved = self.variables, self.first_flag
        self.variables, self.first_flag = [], 40
        self.block(depth + 1, False)
        self.variables, self.first_flag = saved
        if self.random.random() < 0.3:
            self._if(depth, in_loop)
        self.emit(depth, f"{name}()")
        return None


_WRAPPERS = {
    "_on_npu": "def _on_npu():\n    return is_torch_npu_available()\n\n",
    "_npu_and_flag": "def _npu_and_flag():\n    if not IS_NPU_AVAILABLE:\n        return False\n    return flag(0)\n\n",
    "_require": "def _require():\n    if not is_torch_npu_available():\n        raise RuntimeError('no NPU')\n\n",
}
