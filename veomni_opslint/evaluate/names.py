"""Names: looking them up and binding them, and taking values apart into targets."""

from __future__ import annotations

import ast
import builtins

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value, unknown
from veomni_opslint.evaluate.classes import Classes
from veomni_opslint.evaluate.containers import ListValue
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.settling import has_choices
from veomni_opslint.evaluate.values import Choice, External, Instance, Lazy


class Names(Classes):
    """Scopes and assignment targets."""

    def lookup(self, name: str, frame: Frame) -> Value:
        """The value of a name."""
        scope: Frame | None = frame.module.frame if name in frame.global_names else frame
        while scope is not None:
            if scope.kind != "class" or scope is frame:
                value = scope.names.attrs.get(name, UNBOUND)
                if isinstance(value, Lazy):
                    value = scope.names.attrs[name] = self.resolve(value)
                if value is not UNBOUND:
                    return self.prune(value)
            scope = scope.parent
        if hasattr(builtins, name):
            return True if name == "__debug__" else External(f"builtins.{name}")
        module = frame.module
        if module.external_stars:
            return self.outside(f"{module.external_stars[-1]}.{name}")
        if module.lost:
            return unknown(module.lost)
        if name.startswith("__"):
            return unknown("comes from Python itself")
        if any("NameError" in names for names in self.catching):
            raise Raised("NameError")
        return unknown(f"uses the name {name}, which is not defined here")

    def assign_name(self, name: str, value: Value, frame: Frame) -> None:
        scope = self._scope_of(name, frame)
        if scope.kind == "module" and name == self.dialect.registry:
            value = self._as_registry(value)
        self.touch(scope.names, name)
        scope.names.attrs[name] = value

    def delete_name(self, name: str, frame: Frame) -> None:
        """Unbind a name."""
        scope = self._scope_of(name, frame)
        self.touch(scope.names, name)
        scope.names.attrs.pop(name, None)

    @staticmethod
    def _scope_of(name: str, frame: Frame) -> Frame:
        if name in frame.global_names:
            return frame.module.frame
        if name in frame.nonlocal_names:
            scope = frame.parent
            while scope is not None and scope.parent is not None:
                if scope.kind == "function" and name in scope.names.attrs:
                    return scope
                scope = scope.parent
        return frame

    def _as_registry(self, value: Value) -> Value:
        if isinstance(value, Instance):
            value.own_role = "registry"
        elif isinstance(value, Opaque):
            return self.outside(self.dialect.registry)
        return value

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, frame)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value, frame)
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value, frame)
            self.set_attribute(owner, target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, frame)
            index = self.evaluate(target.slice, frame)
            try:
                self.set_item(owner, index, value)
            except NotPlain as problem:
                self.forget(owner, problem.reason)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, frame)

    def _unpack(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        value = self.prune(value)
        try:
            if has_choices(value, 1):
                options = self.settled(value)
                if len(options) > 1:
                    value = Choice(tuple(options))
            if isinstance(value, Choice):
                self.spread(value, lambda option: self._unpack(targets, option, frame))
                return
            items = self.ordered(value)
        except NotPlain as problem:
            for target in targets:
                self.assign(target, unknown(problem.reason), frame)
            return
        star = next((index for index, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if (len(items) != len(targets)) if star is None else (len(items) < len(targets) - 1):
            raise Raised("ValueError", "unpacks a value of another length")
        if star is None:
            parts: list[Value] = items
        else:
            after = len(targets) - star - 1
            middle = ListValue(items[star : len(items) - after])
            parts = [*items[:star], middle, *items[len(items) - after :]]
        for target, part in zip(targets, parts, strict=True):
            self.assign(target, part, frame)
