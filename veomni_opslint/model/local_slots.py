"""What a name in one function has to do with a slot."""

from __future__ import annotations

import ast

from veomni_opslint.extract.operands import dotted
from veomni_opslint.model.sites import Path
from veomni_opslint.model.slot_names import Names
from veomni_opslint.model.slots import OpSlotInfo


class LocalSlots:
    """Recognises slots and their calls in one function, or in the code outside functions, also under a local name."""

    def __init__(self, names: Names, kernel: str, root: ast.Module) -> None:
        self._kernel = kernel
        self._known = dict(names)
        self._kernels: dict[str, OpSlotInfo] = {}
        assigned: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(root):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.setdefault(node.id, [])
        counts: dict[str, int] = {}
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
        hidden = _parameters(root)
        is_module = not (len(root.body) == 1 and isinstance(root.body[0], ast.FunctionDef | ast.AsyncFunctionDef))
        for name in list(self._known):
            local = name.partition(".")[0]
            if local in hidden or (not is_module and local in counts):
                del self._known[name]
        for name, values in assigned.items():
            if name in self._known or counts.get(name) != 1 or len(values) != 1 or values[0] is None:
                continue
            slot = self._named(values[0])
            if slot is not None:
                self._known[name] = slot
            elif (kernel_of := self._kernel_call(values[0])) is not None:
                self._kernels[name] = kernel_of

    @property
    def known(self) -> Names:
        """The slots by the names that they have in the function."""
        return self._known

    def is_call(self, node: ast.expr, path: Path) -> bool:
        """Whether the expression is what a call of a slot calls."""
        parent = path[-1] if path else None
        return isinstance(parent, ast.Call) and parent.func is node and self.slot_of(node)[0] is not None

    def slot_of(self, node: ast.expr) -> tuple[OpSlotInfo | None, bool]:
        """The slot that the called expression is, or whose kernel it is."""
        if isinstance(node, ast.Attribute) and node.attr == "__call__":
            node = node.value
        slot = self._named(node)
        if slot is not None:
            return slot, False
        return self._kernel_call(node) or self._kernels.get(dotted(node)), True

    def _named(self, node: ast.expr) -> OpSlotInfo | None:
        return self._known.get(dotted(node)) if isinstance(node, ast.Name | ast.Attribute) else None

    def _kernel_call(self, node: ast.expr) -> OpSlotInfo | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == self._kernel:
            return self._named(node.func.value)
        return None


def _parameters(root: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(root):
        if isinstance(node, ast.arguments):
            listed = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            found.update(one.arg for one in (*listed, *filter(None, (node.vararg, node.kwarg))))
    return found
