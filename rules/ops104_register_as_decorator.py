"""`KERNEL_REGISTRY.register` is used as a decorator, or the None that it returns is used as a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Finding, Fix, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.project_modules import imports_any
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, line_around
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


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.kept_specs import kept  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.model.expression_places import ancestors, expression_at  # noqa: PLC0415 - for findings only
    from veomni_opslint.model.factories import parsed  # noqa: PLC0415 - as above

    facts = model.files[finding.place.path]
    node, tree = expression_at(facts, finding.place), parsed(facts.text)
    if node is None or tree is None:
        raise NotPossibleError("the registration is in code that is held in a string")
    around = ancestors(tree, node)
    match around[0]:
        case ast.FunctionDef(decorator_list=decorators) as function if node in decorators:
            if around[1] is not tree:
                raise NotPossibleError(
                    "a method is no factory, and the class is not known where a statement could stand"
                )
            return _as_statement(model, facts, tree, function, node)
        case ast.ClassDef() | ast.AsyncFunctionDef():
            raise NotPossibleError("what is decorated is no factory")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) as statement:
            if around[1] is tree and not _is_read(model, facts, tree, name):
                return _without_beginning(model, facts, statement, node, f"do not bind `{name}`, which nothing reads")
        case ast.Return() as statement if statement in getattr(around[1], "body", [])[-1:]:
            if isinstance(around[1], ast.FunctionDef):
                return _without_beginning(model, facts, statement, node, "do not return what is always None")
    return kept(model, facts, around, node)


def _as_statement(
    model: OpsModel, facts: FileFacts, tree: ast.Module, function: ast.FunctionDef, node: ast.expr
) -> Proposal | None:
    """Take the decorator off and, where it was given the spec, register that below the function."""
    start, end = extent(facts.text, model.place(facts.path, span_of(node)))
    first, last = line_around(facts.text, start)
    if facts.text[first:start].strip() != "@":
        raise NotPossibleError("the decorator does not begin its line")
    gone = Edit(first, last + 1, "")
    if not isinstance(node, ast.Call):
        # The evaluator does not look past what fails, so the file says more than the registry.
        registered = any(
            isinstance(one, ast.Name) and one.id == function.name
            for spec in ast.walk(tree)
            if isinstance(spec, ast.Call) and dotted(spec.func).rpartition(".")[2] == model.dialect.kernel_spec
            for one in (*spec.args, *(keyword.value for keyword in spec.keywords))
        )
        useless = Fix(f"take the decorator off {function.name}, which is registered by a statement", safe=True)
        if not registered:
            raise NotPossibleError("no spec is given: which op, variant and name are meant only the author knows")
        return Proposal(useless, lambda: (gone,))
    match node.args, node.keywords:
        case [[ast.Call(func=called, args=given) as spec], []] if (
            dotted(called).rpartition(".")[2] == model.dialect.kernel_spec
        ):
            pass
        case _:
            raise NotPossibleError("what is registered is not a spec that is written there")
    if "\n" in facts.text[start:end]:
        gone = Edit(first, line_around(facts.text, end)[1] + 1, "")
    text = facts.text[start:end]
    has_factory = len(given) >= 4 or any(one.arg in ("factory", None) for one in spec.keywords)
    if not has_factory:
        required = len(function.args.posonlyargs + function.args.args) - len(function.args.defaults)
        required += sum(one is None for one in function.args.kw_defaults)
        factory = function.name if not required else f"lambda: {function.name}"
        spec_end = extent(facts.text, model.place(facts.path, span_of(spec)))[1] - start - 1
        separator = "" if text[:spec_end].rstrip().endswith((",", "(")) else ", "
        text = f"{text[:spec_end]}{separator}factory={factory}{text[spec_end:]}"
    below = extent(facts.text, model.place(facts.path, span_of(function)))[1]
    below = line_around(facts.text, below)[1]
    moved = Fix(f"register {function.name} by a statement below it", safe=has_factory)
    return Proposal(moved, lambda: (gone, Edit(below, below, f"\n\n\n{text}")))


def _without_beginning(
    model: OpsModel, facts: FileFacts, statement: ast.stmt, node: ast.expr, description: str
) -> Proposal:
    """The expression as a statement of its own."""
    start, _ = extent(facts.text, model.place(facts.path, span_of(statement)))
    end, _ = extent(facts.text, model.place(facts.path, span_of(node)))
    return Proposal(Fix(description, safe=True), lambda: (Edit(start, end, ""),))


def _is_read(model: OpsModel, facts: FileFacts, tree: ast.Module, name: str) -> bool:
    """Whether a name of the module may be read, here or elsewhere."""
    if any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(tree)):
        return True
    if any(isinstance(one, ast.Constant) and one.value == name for one in ast.walk(tree)):
        return True
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(other.text) for other in model.symbols.modules.values() if other is not facts)


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
        one.name
        for _, facts in model.modules_in(model.ops_package)
        for one in facts.bindings
        if one.scope == 0 and one.value_name.endswith(ending)
    }
    for module, facts in model.modules_in(model.package):
        if module in homes or imports_any(facts, names):
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
        lines = self.facts.lines[node.lineno - 1 : node.end_lineno]
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
