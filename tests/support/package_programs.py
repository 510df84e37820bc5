"""Random packages full of re-exports, and a child program that imports them to see what each name stands for."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

RUNNER = """\
import importlib, inspect, json, sys

root, questions = sys.argv[1], json.load(sys.stdin)
sys.path.insert(0, root)


def described(value):
    if inspect.ismodule(value):
        return ["module", value.__name__, ""]
    if inspect.isfunction(value) or inspect.isclass(value):
        return ["scope", value.__module__, value.__qualname__]
    return ["value", "", ""]


answers = {}
for module, expressions in questions.items():
    namespace = vars(importlib.import_module(module))
    answers[module] = [described(eval(expression, dict(namespace))) for expression in expressions]
print(json.dumps(answers))
"""


@dataclass
class PackageProgram:
    """Builds one package. Modules import only from those built before them, so that all of them can be imported."""

    random: random.Random
    name: str
    files: dict[str, str] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    """What each module binds."""
    questions: dict[str, list[str]] = field(default_factory=dict)
    """Expressions in each module; those that call a probe are about a name in a function."""

    def build(self) -> None:
        """Write all modules."""
        for path in [
            "ns/e",
            "sub/c",
            "sub/d",
            "sub/__init__",
            "a",
            "b",
            "sub/inner/f",
            "sub/inner/__init__",
            "__init__",
        ]:
            self.module(path)

    def module(self, path: str) -> None:
        parts = [self.name, *path.split("/")]
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        tag = "_".join(parts[1:]).replace("__init__", "init")
        lines = [
            f"def f_{tag}(): pass",
            f"class C_{tag}:\n    def m(self): pass\n    class Inner:\n        pass",
            f"v_{tag} = [1]",
            f"_p_{tag} = f_{tag}",
        ]
        self.names[name] = [f"f_{tag}", f"C_{tag}", f"v_{tag}", f"_p_{tag}"]
        self.questions[name] = []
        earlier = [one for one in self.names if one != name]
        for index in range(self.random.randint(0, 6) if earlier else 0):
            source = self.random.choice(earlier)
            lines.append(self.statement(name, parts, source, f"n{index}_{tag}"))
        if self.random.random() < 0.2:
            exported = self.random.sample(self.names[name], k=2)
            lines.append(f"__all__ = {exported!r}")
        self.files["/".join(parts) + ".py"] = "\n".join(lines) + "\n"
        self.questions[name] += self.names[name]

    def statement(self, name: str, parts: list[str], source: str, new: str) -> str:
        """A statement that takes something from another module."""
        taken = self.random.choice(self.names[source])
        form = self.random.choice(
            ["from", "alias", "relative", "import", "import_as", "assign", "member", "star", "probe"]
        )
        if form == "relative":
            return self.relative(name, parts, source, taken)
        if form == "import":
            self.questions[name].append(f"{source}.{taken}")
            return f"import {source}"
        if form == "import_as":
            self.questions[name].append(f"{new}.{taken}")
            return f"import {source} as {new}"
        if form == "assign" and source.split(".")[1:2] != name.split(".")[1:2]:
            # Otherwise a package would be asked for its attribute before it is loaded.
            self.names[name].append(new)
            return f"import {source}\n{new} = {source}.{taken}"
        if form == "member":
            member = self.random.choice([one for one in self.names[source] if one.startswith("C_")])
            self.questions[name] += [f"{new}.Inner", f"{new}.m"]
            return f"from {source} import {member} as {new}"
        if form == "star":
            return f"from {source} import *"
        if form == "probe":
            self.questions[name].append(f"probe_{new}()")
            return f"def probe_{new}():\n    from {source} import {taken} as local\n    return local"
        self.names[name].append(new if form == "alias" else taken)
        return f"from {source} import {taken}" + (f" as {new}" if form == "alias" else "")

    def relative(self, name: str, parts: list[str], source: str, taken: str) -> str:
        folder, target = parts[:-1], source.split(".")
        common = 0
        while common < min(len(folder), len(target)) and folder[common] == target[common]:
            common += 1
        self.names[name].append(taken)
        return f"from {'.' * (len(folder) - common + 1)}{'.'.join(target[common:])} import {taken}"


def what_names_are(root: Path, programs: list[PackageProgram]) -> dict[str, list[tuple[str, str, str]]]:
    """The answers of Python to all questions of the programs, which are written to *root*."""
    for program in programs:
        for path, text in program.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    runner = root / "runner.py"
    runner.write_text(RUNNER)
    questions = {module: asked for program in programs for module, asked in program.questions.items()}
    done = subprocess.run(
        [sys.executable, str(runner), str(root)],
        input=json.dumps(questions), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {module: [tuple(one) for one in found] for module, found in json.loads(done.stdout).items()}
