"""Puts each patch where its target stands in the source, and refuses one that would be without effect."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import libcst as cst

from .errors import PatchgenError
from .patch_spec import Patch
from .replacements import replacement_node
from .source_module import Statement


def apply_patches(body: Sequence[Statement], patches: Sequence[Patch]) -> list[Statement]:
    """The statements of a module with *patches* in place of their targets.

    Raises:
        PatchgenError: a target does not exist, is patched twice, or is something else than its replacement.
    """
    result = list(body)
    patched: list[str] = []
    for patch in patches:
        lost = [target for target in patched if f"{target}.".startswith(f"{patch.target}.")]
        if lost:
            raise PatchgenError(f"the patch of {patch.target} would undo the one of {lost[0]} before it")
        patched.append(patch.target)
        _apply(result, patch)
    return result


def defined_names(body: Sequence[Any], kind: Any = cst.FunctionDef | cst.ClassDef) -> list[str]:
    """The names of the definitions of *kind* among *body*."""
    return [node.name.value for node in body if isinstance(node, kind)]


def _apply(body: list[Statement], patch: Patch) -> None:
    owner, _, method = patch.target.rpartition(".")
    if (patch.kind == "method") != bool(owner):
        raise PatchgenError(f"{patch.target!r} is no {patch.kind}; a method is named Class.method")
    new = replacement_node(patch.replacement, patch)
    if owner:
        i = _index(body, cst.ClassDef, owner, patch)
        body[i] = _override(body[i], method, patch, new)
    else:
        i = _index(body, cst.FunctionDef if patch.kind == "function" else cst.ClassDef, patch.target, patch)
        body[i] = _replace(body[i], new)


def _override(owner: Any, method: str, patch: Patch, new: Any) -> Any:
    block = owner.body
    if isinstance(block, cst.SimpleStatementSuite):
        block = cst.IndentedBlock([cst.SimpleStatementLine(block.body)])
    body = list(block.body)
    if patch.new:
        if method in defined_names(body, cst.FunctionDef):
            raise PatchgenError(f"the source has {patch.target} already; to replace it, leave out new=True")
        body.append(new.with_changes(leading_lines=[cst.EmptyLine(indent=False), *new.leading_lines]))
    else:
        i = _index(body, cst.FunctionDef, method, patch)
        if _is_property(body[i]) != _is_property(new):
            must = "must stay" if _is_property(body[i]) else "must not become"
            raise PatchgenError(f"{patch.target} {must} a property, since code that the patch does not see uses it")
        body[i] = _replace(body[i], new)
    return owner.with_changes(body=block.with_changes(body=body))


def _index(body: Sequence[Any], kind: type[cst.CSTNode], name: str, patch: Patch) -> int:
    """Where the definition of *name* stands that is in force: the last, not counting setters of a property."""
    found = [i for i, node in enumerate(body) if isinstance(node, kind) and node.name.value == name]
    found = [i for i in found if not any(_dotted(item).startswith(f"{name}.") for item in body[i].decorators)]
    if found:
        return found[-1]
    close = difflib.get_close_matches(name, defined_names(body, kind), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    if patch.kind == "method" and kind is cst.FunctionDef:
        hint += "; new=True adds a method"
    raise PatchgenError(f"the source has no {patch.kind} {patch.target} to patch{hint}")


def _replace(old: Any, new: Any) -> Any:
    """The new node where the old one was: below the blank lines and comments that stood there."""
    return new.with_changes(leading_lines=[*old.leading_lines, *new.leading_lines])


def _is_property(node: Any) -> bool:
    return any(_dotted(item).rpartition(".")[2] in {"property", "cached_property"} for item in node.decorators)


def _dotted(decorator: cst.Decorator) -> str:
    return cst.Module([]).code_for_node(decorator.decorator)
