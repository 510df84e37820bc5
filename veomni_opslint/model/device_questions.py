"""Questions whether there is a CUDA device that code for any accelerator may ask."""

from __future__ import annotations

import ast
import re

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.model.sites import Path

_MARKS = ("skipif", "skipIf", "skipUnless", "skip", "xfail")


def is_asked_well(path: Path, dialect: Dialect) -> bool:
    """Whether a question decides only if a test runs, or is one of several about the accelerator."""
    for outer in reversed(path):
        if isinstance(outer, ast.Call) and dotted(outer.func).rpartition(".")[2] in _MARKS:
            return True
        if isinstance(outer, ast.BoolOp | ast.IfExp | ast.If):
            whole = outer if isinstance(outer, ast.BoolOp) else outer.test
            words = {name for one in ast.walk(whole) for name in _names(one)}
            if words & {*dialect.npu_guards, *dialect.npu_packages, "npu"}:
                return True
            if isinstance(outer, ast.If) and _asks_npu_next(outer, dialect.npu_guards):
                return True
            if isinstance(outer, ast.If) and _skips(outer):
                return True
        if isinstance(outer, ast.Assign | ast.AnnAssign | ast.Return | ast.FunctionDef | ast.AsyncFunctionDef):
            return _is_asked_by_name(outer, path)
    return False


def _asks_npu_next(node: ast.If, guards: tuple[str, ...]) -> bool:
    """Whether the next branch asks for an NPU: ``if torch.cuda.is_available(): … elif is_torch_npu_available(): …``."""
    following = node.orelse[0] if len(node.orelse) == 1 else None
    return isinstance(following, ast.If) and any(
        name in guards for one in ast.walk(following.test) for name in _names(one)
    )


def _is_asked_by_name(node: ast.stmt, path: Path) -> bool:
    """Whether the answer goes under a name that says it is about a GPU, or that is a mark of tests."""
    if isinstance(node, ast.Return):
        names = [one.name for one in path if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)][-1:]
    else:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [dotted(one) for one in targets if one is not None]
    words = {word for name in names for word in re.split(r"[._]", name.lower())}
    return bool(words & {"gpu", "gpus", "cuda", "nvidia", "mark", "pytestmark", "requires"})


def _skips(node: ast.If) -> bool:
    """Whether a branch only skips a test or gives up."""
    last = node.body[-1]
    if isinstance(last, ast.Raise):
        return True
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and "skip" in dotted(last.value.func).lower()


def _names(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ()
