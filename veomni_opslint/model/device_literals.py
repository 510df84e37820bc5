"""Strings that name the CUDA device or its backend, told from tables, comparisons and text by where they stand."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from veomni_opslint.extract.operands import dotted
from veomni_opslint.model.sites import Path

_BACKEND = "nccl"
_DEVICE_CALLS = frozenset({
    "device", "to", "to_empty", "set_default_device", "set_device", "autocast", "init_device_mesh", "DeviceMesh",
    "Generator", "get_device_module", "custom_fwd", "custom_bwd", "synchronize", "GradScaler",
})  # fmt: skip
_BACKEND_CALLS = frozenset({"init_process_group", "new_group", "init_distributed"})
_TYPE_CALLS = frozenset({"type", "set_default_tensor_type"})
_TENSOR_TYPE = re.compile(r"torch\.cuda\.\w*Tensor")
_LOOK_UPS = frozenset({"get", "pop", "setdefault"})
_OTHER_DEVICES = frozenset({"npu", "hccl"})

ParameterName = Callable[[ast.Call, ast.expr], str]
"""The parameter of a project function that takes an argument of a call; empty where it is not known."""


def is_device_text(node: ast.AST) -> bool:
    """Whether a string, or the beginning of an f-string, is ``cuda``, ``cuda:0``, ``nccl`` or a type of tensors."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else node
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, str):
        return False
    if value in ("cuda", _BACKEND) or (value.startswith("cuda:") and " " not in value) or f":{_BACKEND}" in value:
        return True
    return _TENSOR_TYPE.fullmatch(value) is not None


def is_backend_text(node: ast.AST) -> bool:
    """Whether it is the communication backend."""
    return isinstance(node, ast.Constant) and _BACKEND in str(node.value)


def chosen_by_hand(node: ast.expr, path: Path) -> bool:
    """Whether the string is one branch of ``"npu" if … else "cuda"``, which a helper of the project decides."""
    parent = path[-1]
    if not isinstance(parent, ast.IfExp):
        return False
    other = parent.orelse if parent.body is node else parent.body
    return isinstance(other, ast.Constant) and other.value in _OTHER_DEVICES


def names_device(node: ast.expr, path: Path, defaults: tuple[str, ...], parameter: ParameterName) -> bool:
    """Whether a string is given as a device or backend: to a call, as a default, to a variable, or as a result.

    *defaults* are parameters and settings whose default may be CUDA.
    """
    inner: ast.AST = node
    for depth in range(len(path) - 1, -1, -1):
        outer = path[depth]
        if isinstance(outer, ast.IfExp):
            if inner is outer.test:
                return False
        elif isinstance(outer, ast.keyword) and outer.arg == "default" and _makes_field(path[depth - 1]):
            # Of a dataclass: the name is that of the field.
            inner = path[depth - 1]
            continue
        elif outer is inner:
            continue
        elif isinstance(outer, ast.keyword):
            return _is_device_keyword(outer, path[depth - 1], defaults)
        elif isinstance(outer, ast.Call) and outer.func is not inner:
            return _is_device_argument(outer, inner, defaults, parameter)
        elif isinstance(outer, ast.Dict):
            return _is_device_entry(outer, inner)
        elif isinstance(outer, ast.arguments):
            name = _parameter_of(outer, inner)
            return _speaks_of_device(name) and name not in defaults
        elif isinstance(outer, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            if inner is not outer.value:
                return False
            targets: list[ast.expr] = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
            names = [_target_name(target) for target in targets]
            return any(_speaks_of_device(name) and name not in defaults for name in names)
        elif isinstance(outer, ast.Return):
            function = next((one for one in reversed(path[:depth]) if isinstance(one, ast.FunctionDef)), None)
            return function is not None and _speaks_of_device(function.name)
        elif not (isinstance(outer, ast.BoolOp | ast.Await) or _makes_text(outer, inner)):
            return False
        inner = outer
    return False


def _makes_text(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a string becomes the beginning of another one, as in ``"cuda:" + rank`` and ``"cuda:%d" % rank``."""
    match outer:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod()):
            return left is inner
        case ast.Attribute(attr="format"):
            return True
        case ast.Call(func=ast.Attribute(attr="format") as callee):
            return callee is inner
    return False


def _makes_field(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "field"


def _is_device_keyword(keyword: ast.keyword, call: ast.AST, defaults: tuple[str, ...]) -> bool:
    name = keyword.arg or ""
    if name == "default" and isinstance(call, ast.Call):
        # Of an argument parser, ``--device``.
        option = call.args[0] if call.args else None
        written = str(option.value) if isinstance(option, ast.Constant) else ""
        return _speaks_of_device(written) and written.lstrip("-").replace("-", "_") not in defaults
    return _speaks_of_device(name) or name == "map_location"


def _is_device_argument(call: ast.Call, inner: ast.AST, defaults: tuple[str, ...], parameter: ParameterName) -> bool:
    last = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    position = next((index for index, one in enumerate(call.args) if one is inner), -1)
    if isinstance(inner, ast.Constant) and _TENSOR_TYPE.fullmatch(str(inner.value)):
        return last in _TYPE_CALLS
    if last in _DEVICE_CALLS or last in _BACKEND_CALLS:
        return position == 0
    if last == "getattr":
        return position == 1 and dotted(call.args[0]) == "torch"
    if last in _LOOK_UPS and position == 1:
        key = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
        return isinstance(key, str) and _speaks_of_device(key) and key not in defaults
    name = parameter(call, inner) if isinstance(inner, ast.expr) else ""
    return _speaks_of_device(name)


def _is_device_entry(table: ast.Dict, inner: ast.AST) -> bool:
    """Whether it is the value of a key such as ``device``; a table of several devices names them all."""
    for key, value in zip(table.keys, table.values, strict=True):
        if value is inner:
            return isinstance(key, ast.Constant) and isinstance(key.value, str) and _speaks_of_device(key.value)
    return False


def _parameter_of(arguments: ast.arguments, default: ast.AST) -> str:
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((parameter.arg for parameter, value in pairs if value is default), "")


def _target_name(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return dotted(target).rpartition(".")[2]


def _speaks_of_device(name: str) -> bool:
    """Whether a name is that of a device or backend; one that says CUDA itself is of CUDA by its own account."""
    words = name.lower().replace("-", "_").strip("_").split("_")
    if "cuda" in words or _BACKEND in words:
        return False
    return any(word in ("device", "devices", "backend", "dev") for word in words)
