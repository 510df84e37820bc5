"""What the functions, methods and classes of the project take when they are called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Binding, FileFacts, Scope
from veomni_opslint.model.call_binding import Signature
from veomni_opslint.model.symbols import Symbols, Target
from veomni_opslint.parameters import Parameter

Receiver = Literal["", "object", "class"]
"""How a method is reached: as a plain name or attribute of its class, through an object, through ``cls``."""

_SAME_SIGNATURE = frozenset({
    "staticmethod", "classmethod", "abstractmethod", "override", "final", "overload", "wraps", "no_grad", "enable_grad",
    "inference_mode", "compile", "lru_cache", "cache", "contextmanager", "asynccontextmanager", "ignore", "disable",
    "allow_in_graph", "script", "jit", "custom_fwd", "custom_bwd", "autocast_custom_fwd", "autocast_custom_bwd",
    "auto_docstring", "dynamic_rope_update", "use_kernel_forward_from_hub", "use_kernelized_func",
    "use_kernel_func_from_hub", "register", "override_method", "replace_function", "replace_class", "add_helper",
    "add_helper_after", "total_ordering", "runtime_checkable", "deprecated", "record", "annotate",
})  # fmt: skip
"""Decorators, by the last part of their names, after which a function takes what it takes without them."""
_NO_CONSTRUCTOR = frozenset({"object", "ABC", "abc.ABC", "Generic", "typing.Generic", "typing.Protocol", "Protocol"})
_OWN_CONSTRUCTOR = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "TypedDict", "Function"})
_DATACLASS = ("dataclass", "dataclasses.dataclass")
_FIELD_CALLS = ("field", "dataclasses.field")
_MAX_BASES = 12


class Known(NamedTuple):
    """Something that can be called: its name in messages, what it takes, and the definition."""

    name: str
    signature: Signature
    module: str
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Callables:
    """Reads signatures off the facts of modules."""

    symbols: Symbols
    deep: Callable[[str], FileFacts]
    _nodes: dict[str, dict[tuple[int, int], ast.ClassDef]] = field(default_factory=dict, repr=False)
    _members: dict[tuple[str, bool], dict[tuple[int, str], list[Binding]]] = field(default_factory=dict, repr=False)
    _bases: dict[tuple[str, int], tuple[tuple[str, Scope | None], ...]] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Target, Receiver], Known | None] = field(default_factory=dict, repr=False)
    _constructors: dict[tuple[str, int], Known | None] = field(default_factory=dict, repr=False)

    def class_node(self, module: str, scope: Scope) -> ast.ClassDef | None:
        """The definition of a class, its methods without bodies."""
        if module not in self._nodes:
            self._nodes[module] = _class_nodes(self.symbols.modules[module])
        return self._nodes[module].get(scope.span[:2])

    def facts(self, module: str, scope: int) -> FileFacts:
        """Facts of a module that have the scope."""
        facts = self.symbols.modules[module]
        return facts if scope < len(facts.scopes) else self.deep(module)

    def of(self, target: Target, receiver: Receiver = "") -> Known | None:
        """What is called when *target* is; None where that is no definition whose signature is known."""
        if target.kind != "scope":
            return None
        key = (target, receiver)
        if key not in self._known:
            self._known[key] = self._find(target, receiver)
        return self._known[key]

    def _find(self, target: Target, receiver: Receiver) -> Known | None:
        facts = self.facts(target.module, target.scope)
        scope = facts.scopes[target.scope]
        if target.rest:
            return self._attribute(target, scope, receiver)
        if scope.kind == "function":
            return self._function(target.module, facts, scope, receiver)
        if scope.kind == "class":
            return self.constructor(target.module, scope.index)
        return None

    def method(self, module: str, owner: int, name: str) -> tuple[Target, ...] | None:
        """The definitions of a method that a class has or inherits; None where an unknown base may have it."""
        for base_module, base in self.ancestors(module, owner):
            if base is None:
                return None
            bound = self._bound(base_module, self.symbols.modules[base_module], base.index, name)
            if bound:
                if any(one.kind != "scope" for one in bound):
                    return None
                return tuple(Target("scope", base_module, name, one.target_scope) for one in bound)
        return ()

    def _bound(self, module: str, facts: FileFacts, owner: int, name: str) -> list[Binding]:
        """The bindings of a name in the body of a class."""
        key = (module, facts.deep)
        if key not in self._members:
            found: dict[tuple[int, str], list[Binding]] = {}
            for one in facts.bindings:
                if one.scope:
                    found.setdefault((one.scope, one.name), []).append(one)
            self._members[key] = found
        return self._members[key].get((owner, name), [])

    def ancestors(self, module: str, owner: int, depth: int = 0) -> Iterator[tuple[str, Scope | None]]:
        """A class and its bases, nearest first; (name, None) for a base that is not in the project."""
        yield module, self.facts(module, owner).scopes[owner]
        for where, base in self.bases(module, owner):
            if base is not None and depth < _MAX_BASES:
                yield from self.ancestors(where, base.index, depth + 1)
            else:
                yield where if base is None else base.name, None

    def bases(self, module: str, owner: int) -> tuple[tuple[str, Scope | None], ...]:
        """The bases that the definition of a class names, as ``ancestors`` gives them."""
        key = (module, owner)
        if key not in self._bases:
            self._bases[key] = tuple(self._find_bases(module, owner))
        return self._bases[key]

    def _find_bases(self, module: str, owner: int) -> Iterator[tuple[str, Scope | None]]:
        facts = self.facts(module, owner)
        scope = facts.scopes[owner]
        for base in scope.bases:
            targets = self.symbols.resolve_deep(facts, module, scope.parent, base) if base else ()
            inside = [one for one in targets if one.kind == "scope" and not one.rest]
            if len(inside) == 1 == len(targets):
                yield inside[0].module, self.facts(inside[0].module, inside[0].scope).scopes[inside[0].scope]
            else:
                external = [one.name for one in targets if one.kind == "external"]
                yield (external[0] if external else base), None

    def constructor(self, module: str, owner: int) -> Known | None:
        """What a class takes to make an object."""
        key = (module, owner)
        if key not in self._constructors:
            self._constructors[key] = self._find_constructor(module, owner)
        return self._constructors[key]

    def _find_constructor(self, module: str, owner: int) -> Known | None:
        scope = self.facts(module, owner).scopes[owner]
        for where, base in self.ancestors(module, owner):
            if base is None:
                if where in _NO_CONSTRUCTOR:
                    continue
                return self._named_tuple(module, scope) if where.rpartition(".")[2] == "NamedTuple" else None
            facts = self.facts(where, base.index)
            node = self.class_node(where, base)
            if node is None or node.keywords or any(one.rpartition(".")[2] in _OWN_CONSTRUCTOR for one in base.bases):
                return None
            own = [one for name in ("__init__", "__new__") for one in self._bound(where, facts, base.index, name)]
            if len(own) > 1 or any(not keeps_signature(one) and one not in _DATACLASS for one in base.decorators):
                return None
            if own:
                return self._written_constructor(where, scope, own[0])
            if any(one in _DATACLASS for one in base.decorators):
                fields = self._fields(where, base)
                return Known(scope.name, Signature(fields), where, base) if fields is not None else None
        return Known(scope.name, Signature(()), module, scope)

    def _written_constructor(self, module: str, scope: Scope, binding: Binding) -> Known | None:
        if binding.kind != "scope" or binding.name == "__new__":
            return None
        facts = self.facts(module, binding.target_scope)
        found = self._function(module, facts, facts.scopes[binding.target_scope], "object")
        return Known(scope.name, found.signature, module, found.scope) if found is not None else None

    def _function(self, module: str, facts: FileFacts, scope: Scope, receiver: Receiver) -> Known | None:
        if not _all_keep(scope):
            return None
        owner = facts.scopes[scope.parent] if scope.parent >= 0 else None
        signature = Signature(scope.parameters)
        if owner is None or owner.kind != "class":
            return Known(scope.name, signature, module, scope)
        if "staticmethod" in scope.decorators or scope.name == "__new__":
            bound = 0
        elif "classmethod" in scope.decorators:
            bound = 1
        else:
            bound = int(receiver == "object")
        return Known(scope.qualname, signature.given(bound), module, scope)

    def _attribute(self, target: Target, scope: Scope, receiver: Receiver) -> Known | None:
        """``Class.attribute`` where the class itself does not define it: inherited, or ``apply`` of a Function."""
        if scope.kind != "class" or "." in target.rest:
            return None
        if target.rest == "apply":
            return self._applied(target.module, scope)
        found = self.method(target.module, scope.index, target.rest)
        return self.of(found[0], receiver) if found is not None and len(found) == 1 else None

    def _applied(self, module: str, scope: Scope) -> Known | None:
        """``Function.apply`` gives its positional arguments to ``forward``, after the context."""
        bases = [where for where, base in self.ancestors(module, scope.index) if base is None]
        if not any(base.endswith("autograd.Function") or base == "Function" for base in bases):
            return None
        found = self.method(module, scope.index, "forward")
        if not found or len(found) != 1 or self.method(module, scope.index, "setup_context"):
            return None
        forward = self.of(found[0])
        if forward is None or "staticmethod" not in forward.scope.decorators:
            return None
        return Known(f"{scope.name}.apply", forward.signature.given(1), module, forward.scope)

    def _named_tuple(self, module: str, scope: Scope) -> Known | None:
        node = self.class_node(module, scope)
        if node is None or len(scope.bases) != 1:
            return None
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        made = tuple(Parameter(dotted(one.target), "normal", one.value is not None) for one in fields)
        return Known(scope.name, Signature(made), module, scope)

    def _fields(self, module: str, scope: Scope) -> tuple[Parameter, ...] | None:
        """The parameters that a dataclass gives its constructor, those of its bases first."""
        found: dict[str, Parameter] = {}
        for where, base in reversed(list(self.ancestors(module, scope.index))):
            if base is None:
                if where not in _NO_CONSTRUCTOR and where.rpartition(".")[2] != "ModelOutput":
                    return None
                continue
            definition = self.class_node(where, base)
            if definition is None or definition.keywords:
                return None
            if any(one in _DATACLASS for one in base.decorators):
                for field in _own_fields(definition):
                    if field is None:
                        return None
                    found[field.name] = field
        normal = [one for one in found.values() if one.kind == "normal"]
        return (*normal, *(one for one in found.values() if one.kind != "normal"))


def _class_nodes(facts: FileFacts) -> dict[tuple[int, int], ast.ClassDef]:
    """The definitions of classes outside functions, their methods without bodies, by line and column."""
    found: dict[tuple[int, int], ast.ClassDef] = {}
    pending: list[ast.stmt] = list(facts.tree.body) if facts.tree is not None else []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ClassDef):
            found[node.lineno, node.col_offset] = node
        if isinstance(node, ast.ClassDef | ast.If | ast.Try | ast.With):
            pending += node.body
            pending += getattr(node, "orelse", [])
            for handler in getattr(node, "handlers", ()):
                pending += handler.body
    return found


def _own_fields(node: ast.ClassDef) -> Iterator[Parameter | None]:
    """The fields of one dataclass; None where they cannot be told."""
    options: dict[str, ast.expr] = {}
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and dotted(decorator.func) in _DATACLASS:
            options.update({one.arg: one.value for one in decorator.keywords if one.arg is not None})
    if any(not isinstance(one, ast.Constant) for one in options.values()) or _is(options.get("init"), False):
        yield None
    by_name = _is(options.get("kw_only"), True)
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        words = [_last_word(one) for one in ast.walk(statement.annotation)]
        if any("ClassVar" in word for word in words):
            continue
        if words[0].rpartition(".")[2] == "KW_ONLY":
            by_name = True
            continue
        value, has_default, keyword = statement.value, statement.value is not None, by_name
        if isinstance(value, ast.Call) and dotted(value.func) in _FIELD_CALLS:
            given = {one.arg: one.value for one in value.keywords}
            if _is(given.get("init"), False):
                continue
            has_default = "default" in given or "default_factory" in given or None in given
            keyword = keyword or _is(given.get("kw_only"), True)
        yield Parameter(statement.target.id, "keyword" if keyword else "normal", has_default)


def _last_word(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def keeps_signature(decorator: str) -> bool:
    """Whether a function takes after a decorator what it takes without it."""
    return decorator.rpartition(".")[2] in _SAME_SIGNATURE


def _all_keep(scope: Scope) -> bool:
    return all(keeps_signature(one) for one in scope.decorators)
