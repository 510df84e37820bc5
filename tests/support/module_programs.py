"""Random modules with every kind of statement that binds a name, opens a scope or imports something."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_IMPORTS = [
    "import {name}",
    "import {name}.sub as {other}",
    "import os, {name}.sub",
    "from {name} import {other}",
    "from . import {name}",
    "from ..{name} import ({other} as {name}, {other})",
    "from {name} import {other}; import torch_npu",
    "if {other}: from {name} import {other}",
    "importlib.import_module('{name}')",
    "{other} = __import__('{name}')",
]
_SIMPLE = [
    "{name} = {expression}",
    "{name}: int = {expression}",
    "{name}, (*{other}, _) = {expression}",
    "{name} += 1",
    "{name}.{other} = {expression}",
    "del {name}",
    "assert {expression}",
    "print({expression})",
    "({name} := {expression})",
    "'a string: import {name}'",
    '"""\n>>> from {name} import {other}\nimport {name}\n"""',
    "pass",
]
_EXPRESSIONS = [
    "{name}",
    "{name}({other}, key={other})",
    "lambda {name}, *, {other}=1: {name}",
    "lambda: (lambda: {name})",
    "[{name} for {name} in {other}]",
    "{{{name}: {other} for {name}, {other} in x if {name}}}",
    "{name} if {other} else {name}",
    "{name} and not {other}",
    "OpSlot('rms_norm', {name})",
    "f'{{{name}}} import {other}'",
    "{name}[{other}].attribute",
]
_MODULES = ["alpha", "beta", "OpSlot", "é"]
_NAMES = [*_MODULES, "gamma", "torch_npu"]


@dataclass
class ModuleProgram:
    """Builds the text of one module."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    budget: int = 25

    def text(self) -> str:
        """The module, which can be compiled; running it is another matter."""
        self.block(0, in_function=False)
        return "\n".join(self.lines) + "\n"

    def emit(self, depth: int, text: str) -> None:
        """Write a statement."""
        filled = text.format(
            name=self.random.choice(_NAMES), other=self.random.choice(_NAMES), expression=self.expression()
        )
        self.lines.append("    " * depth + filled)

    def expression(self) -> str:
        """An expression, with names in it."""
        template = self.random.choice(_EXPRESSIONS)
        return template.format(name=self.random.choice(_NAMES), other=self.random.choice(_NAMES))

    def block(self, depth: int, *, in_function: bool) -> None:
        """Some statements at a depth."""
        for _ in range(self.random.randint(1, 5 if depth == 0 else 3)):
            self.budget -= 1
            choices = [self.simple, self.simple, self.imported]
            if self.budget > 0 and depth < 5:
                choices += [
                    self.function,
                    self.function,
                    self.klass,
                    self.branch,
                    self.loop,
                    self.handled,
                    self.managed,
                ]
            self.random.choice(choices)(depth, in_function)

    def simple(self, depth: int, in_function: bool) -> None:
        text = self.random.choice([*_SIMPLE, *(["return {expression}", "yield {name}"] if in_function else [])])
        self.emit(depth, text)

    def imported(self, depth: int, in_function: bool) -> None:
        template = self.random.choice(_IMPORTS)
        self.emit(depth, template.format(name=self.random.choice(_MODULES), other=self.random.choice(_MODULES)))

    def function(self, depth: int, in_function: bool) -> None:
        if self.random.random() < 0.3:
            self.emit(depth, "@{name}({other})")
        signature = self.random.choice(["", "self", "a, b=lambda: 1", "*a, **k", "a: '{name}', b: (lambda: 1) = 2"])
        returned = self.random.choice(["", "", " -> {name}", " -> (lambda: {name})", " -> {name}[{other}]"])
        name = f"function_{len(self.lines)}"
        self.emit(depth, f"{self.random.choice(['', '', 'async '])}def {name}({signature}){returned}:")
        if self.random.random() < 0.2:
            self.emit(depth + 1, f"global new_{len(self.lines)}")
        self.block(depth + 1, in_function=True)

    def klass(self, depth: int, in_function: bool) -> None:
        self.emit(depth, f"class Class{len(self.lines)}({self.random.choice(['', '{name}', '{name}, key={other}'])}):")
        self.block(depth + 1, in_function=False)

    def branch(self, depth: int, in_function: bool) -> None:
        self.emit(depth, self.random.choice(["if {expression}:", "if not {name}:", "while {name}:"]))
        self.block(depth + 1, in_function=in_function)
        for _ in range(self.random.randint(0, 1)):
            self.emit(depth, "else:")
            self.block(depth + 1, in_function=in_function)

    def loop(self, depth: int, in_function: bool) -> None:
        self.emit(depth, self.random.choice(["for {name} in {expression}:", "for {name}, {other} in x:"]))
        self.block(depth + 1, in_function=in_function)

    def handled(self, depth: int, in_function: bool) -> None:
        self.emit(depth, "try:")
        self.block(depth + 1, in_function=in_function)
        self.emit(depth, self.random.choice(["except ImportError:", "except Exception as {name}:", "finally:"]))
        self.block(depth + 1, in_function=in_function)

    def managed(self, depth: int, in_function: bool) -> None:
        self.emit(depth, self.random.choice(["with {name} as {other}:", "with {name}({expression}):"]))
        self.block(depth + 1, in_function=in_function)
