"""Names of ``torch.cuda`` that code does not use at once: types that it speaks of, entries of tables of devices."""

from __future__ import annotations

import ast

from veomni_opslint.extract.operands import dotted
from veomni_opslint.model.sites import Path

_CUDA_KEYS = ("cuda", "gpu")


def is_chosen_type(name: str, node: ast.expr, path: Path) -> bool:
    """Whether it is a type of tensors that live on the device, and not one that something is compared with."""
    if not name.endswith("Tensor"):
        return False
    inner: ast.AST = node
    for outer in reversed(path):
        if isinstance(outer, ast.Compare | ast.match_case | ast.Subscript):
            return False
        if isinstance(outer, ast.stmt):
            return True
        if isinstance(outer, ast.Call):
            return dotted(outer.func) not in ("isinstance", "issubclass")
        if isinstance(outer, ast.Dict) and inner in outer.keys:
            return False
        inner = outer
    return True


def is_entry_for_cuda(node: ast.expr, path: Path, called: bool) -> bool:
    """Whether it is what a table has for CUDA, and is not called when the table is made."""
    inner: ast.AST = node
    for outer in reversed(path):
        if isinstance(outer, ast.Lambda):
            called = False
        elif isinstance(outer, ast.Dict):
            keys = [key for key, value in zip(outer.keys, outer.values, strict=True) if value is inner]
            return not called and any(isinstance(key, ast.Constant) and key.value in _CUDA_KEYS for key in keys)
        elif not isinstance(outer, ast.Call | ast.Attribute):
            return False
        inner = outer
    return False


def is_annotation(node: ast.expr, path: Path) -> bool:
    """Whether it stands in the annotation of a parameter, a variable or a result."""
    inner: ast.AST = node
    for outer in reversed(path):
        if isinstance(outer, ast.arg) or (isinstance(outer, ast.AnnAssign) and inner is outer.annotation):
            return True
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            return inner is outer.returns
        inner = outer
    return False
