"""`KERNEL_REGISTRY.register` is used as a decorator, or the None that it returns is used as a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def check(model: OpsModel) -> Iterator[Finding]:
    homes = [
        module
        for module, _ in model.modules_in(model.package)
        if any(one.kind != "import" for one in model.symbols.bindings(module).get(model.dialect.registry, ()))
    ]
    if any(_returns_something(model, module) for module in homes):
        return
    for module in _users(model, homes):
        facts = model.module(module)
        if facts.tree is not None:
            yield from _Uses(model, module, facts).in_block(facts.tree.body, returns_none=False)


def _returns_something(model: OpsModel, module: str) -> bool:
    """Whether the registry has a ``register`` whose result is meant to be used."""
    facts = model.module(module)
    for node in ast.walk(facts.tree) if facts.tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == model.dialect.registry_class:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == model.dialect.register_method:
                    return _has_result(facts.function_body(method))
    return False


def _has_result(body: list[ast.stmt]) -> bool:
    returned = (node.value for statement in body for node in ast.walk(statement) if isinstance(node, ast.Return))
    return any(
        value is not None and not (isinstance(value, ast.Constant) and value.value is None) for value in returned
    )


def _users(model: OpsModel, homes: list[str]) -> Iterator[str]:
    """Modules that may call the method: those that import the registry, its module, or another name of the method."""
    ending = f".{model.dialect.register_method}"
    names = {model.dialect.registry, *(home.rpartition(".")[2] for home in homes)}
    names |= {
        name
        for module, _ in model.modules_in(model.ops_package)
        for name, bindings in model.symbols.bindings(module).items()
        if any(one.value_name.endswith(ending) for one in bindings)
    }
    for module, facts in model.modules_in(model.package):
        if module in homes or any(
            imported.module.rpartition(".")[2] in names or any(one.name in names for one in imported.names)
            for imported in facts.imports
        ):
            yield module


def _is_register(model: OpsModel, module: str, name: str) -> bool:
    """Whether a name is the method ``register`` of the kernel registry, under whatever name that goes here."""
    dialect = model.dialect
    if not name:
        return False
    for target in model.symbols.resolve(module, 0, name):
        if target.kind == "value" and target.rest == dialect.register_method:
            if target.name == dialect.registry:
                return True
            made = rf"(?m)^{re.escape(target.name)}\b[^=\n]*=\s*[\w.]*\b{re.escape(dialect.registry_class)}\("
            if re.search(made, model.module(target.module).text):
                return True
    return False


class _Uses:
    """Walks the code of one module and finds where ``register`` decorates or its result is used."""

    def __init__(self, model: OpsModel, module: str, facts: FileFacts) -> None:
        self.model = model
        self.module = module
        self.facts = facts

    def in_block(self, statements: Iterable[ast.stmt], *, returns_none: bool) -> Iterator[Finding]:
        """Walk statements; in a function that says that it returns None, what it returns is not used."""
        for statement in statements:
            if isinstance(statement, _Definition):
                yield from self._in_definition(statement)
            elif isinstance(statement, ast.Expr):
                yield from self._in_expression(statement.value, used=False)
            elif isinstance(statement, ast.Return):
                yield from self._in_expression(statement.value, used=not returns_none)
            elif isinstance(statement, ast.Assign) and all(_is_dropped(target) for target in statement.targets):
                yield from self._in_expression(statement.value, used=False)
            else:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        yield from self._in_expression(child, used=True)
                    elif isinstance(child, ast.stmt):
                        yield from self.in_block([child], returns_none=returns_none)
                    else:
                        yield from self.in_block(getattr(child, "body", ()), returns_none=returns_none)

    def _in_definition(self, node: _Definition) -> Iterator[Finding]:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = dotted(called)
            if _is_register(self.model, self.module, name):
                yield self._finding(
                    decorator,
                    f"`{name}` is used as a decorator of {node.name}, but it takes a "
                    f"{self.model.dialect.kernel_spec} and returns None: loading this file fails; "
                    f"register a {self.model.dialect.kernel_spec} in a statement of its own",
                )
        body: Iterable[ast.stmt] = node.body
        returns_none = False
        if not isinstance(node, ast.ClassDef):
            line = self.facts.text.find(self.model.dialect.register_method)
            body = (
                self.facts.function_body(node)
                if line >= 0 and self._speaks_of_it(node) and not node.body
                else node.body
            )
            returns_none = isinstance(node.returns, ast.Constant) and node.returns.value is None
        yield from self.in_block(body, returns_none=returns_none)

    def _speaks_of_it(self, node: ast.stmt) -> bool:
        lines = self.facts.text.split("\n")[node.lineno - 1 : node.end_lineno]
        return any(self.model.dialect.register_method in line for line in lines)

    def _in_expression(self, node: ast.expr | None, *, used: bool) -> Iterator[Finding]:
        match node:
            case None | ast.Lambda():
                return
            case ast.Call() if _is_register(self.model, self.module, dotted(node.func)):
                if used:
                    name = dotted(node.func)
                    message = f"the result of `{name}(...)` is used, but it is always None"
                    yield self._finding(node, f"{message}; register in a statement of its own")
                used = True
            case ast.IfExp():
                yield from self._in_expression(node.test, used=True)
                yield from self._in_expression(node.body, used=used)
                yield from self._in_expression(node.orelse, used=used)
                return
            case ast.BoolOp():
                for value in node.values:
                    yield from self._in_expression(value, used=used or value is not node.values[-1])
                return
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                yield from self._in_expression(node.elt, used=used)
                return
            case ast.Tuple() | ast.List():
                for value in node.elts:
                    yield from self._in_expression(value, used=used)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                yield from self._in_expression(child.value, used=True)
            elif isinstance(child, ast.expr):
                yield from self._in_expression(child, used=True)

    def _finding(self, node: ast.expr, message: str) -> Finding:
        return rule.finding(self.model.place(self.facts.path, span_of(node)), message)


def _is_dropped(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "_"
