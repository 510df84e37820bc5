"""FileFacts with a pruned tree, made from text without the extractor."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate import evaluate
from veomni_opslint.facts import FileFacts
from veomni_opslint.registrations import Registrations


def facts_of(path: str, text: str) -> FileFacts:
    """The facts of one file, with only what the evaluator reads."""
    tree = ast.parse(text)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = []
        waiting.extend(ast.iter_child_nodes(node))
    return FileFacts(path=path, text=text, problem=None, tree=tree)


def project(files: Mapping[str, str]) -> tuple[dict[str, FileFacts], frozenset[str]]:
    """Modules and packages of a project given as its files by path."""
    modules, packages = {}, set()
    for path, text in files.items():
        name = path.removesuffix(".py").replace("/", ".")
        if name.endswith(".__init__"):
            name = name.removesuffix(".__init__")
            packages.add(name)
        modules[name] = facts_of(path, text)
    return modules, frozenset(packages)


def registrations_of(files: Mapping[str, str], dialect: Dialect | None = None) -> Registrations:
    """What the files of a project register."""
    modules, packages = project(files)
    return evaluate(modules, packages, dialect or Dialect())
