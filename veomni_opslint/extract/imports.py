"""Import statements and the dynamic imports whose names are known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from veomni_opslint.conditions import TRUE, Condition, both
from veomni_opslint.extract.folding import folded
from veomni_opslint.extract.operands import Operand, dotted, operand, strings_of
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Binding, Import, ImportedName, Span

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

MAP_CONSUMERS = ("list", "tuple", "set", "dict", "sorted", "deque")
_OWN_PACKAGE = (("name", "__package__"), ("name", "__name__"), ("name", "__spec__.parent"))


def import_plain(walker: Walker, node: ast.Import, when: Condition) -> Condition:
    """``import a.b as c``: one import a name; what follows runs only where the package is there."""
    reached = TRUE
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        span = span_of(node) if len(node.names) == 1 else span_of(alias)
        imported = alias.name if alias.asname else bound
        index = _add(walker, span, alias.name, 0, (), bound, both(when, reached), "import")
        _bind(walker, bound, imported, index, span, when)
        package = walker.optional_package(alias.name)
        if package in walker.dialect.npu_packages and (alias.asname or package != "torch.npu"):
            walker.device_roots.add(bound)
        if package:
            reached = both(reached, ("available", package))
    return reached


def import_from(walker: Walker, node: ast.ImportFrom, when: Condition) -> Condition:
    """``from .a import b as c``."""
    module = node.module or ""
    names = tuple(ImportedName(alias.name, alias.asname or alias.name, span_of(alias)) for alias in node.names)
    index = _add(walker, span_of(node), module, node.level, names, "", when, "from")
    package = "" if node.level else walker.optional_package(module)
    for name in names:
        _bind(walker, name.bound, name.name, index, name.span, when)
        if name.name == "import_module" and module == "importlib":
            walker.alias_import(name.bound)
        kind = walker.slot_aliases.get(name.name)
        if kind is not None and name.bound != name.name:
            walker.alias_slot(name.bound, kind)
        inner = "" if node.level or not module else walker.optional_package(f"{module}.{name.name}")
        if (inner or package) in walker.dialect.npu_packages:
            walker.device_roots.add(name.bound)
        package = package or inner
    return ("available", package) if package else TRUE


def import_module_call(walker: Walker, node: ast.Call, name: str, when: Condition) -> None:
    """``importlib.import_module("m")`` and ``__import__("m")`` with a name that is known."""
    argument = _argument(node, 0, "name")
    listed = walker.scope.elements.get(argument.id, ()) if isinstance(argument, ast.Name) else ()
    for written in listed or (folded(argument, _names_here(walker)) if argument is not None else None,):
        if written is not None and written.strip("."):
            _import_module(walker, node, name, when, written)


def imports_by_map(walker: Walker, node: ast.expr | None, when: Condition) -> None:
    """``map(import_module, names)``, where something goes through what it gives, as ``list`` does."""
    if not isinstance(node, ast.Call) or dotted(node.func) != "map" or len(node.args) != 2:
        return
    function, listed = node.args
    name = dotted(function)
    if isinstance(function, ast.Lambda) and isinstance(function.body, ast.Call) and len(function.args.args) == 1:
        given = [argument.id for argument in function.body.args if isinstance(argument, ast.Name)]
        name = dotted(function.body.func) if given == [function.args.args[0].arg] else ""
    if name.rpartition(".")[2] in walker.importers:
        for written in strings_of(operand(listed, _names_here(walker))):
            if written.strip("."):
                _import_module(walker, node, name, when, written)


def _import_module(walker: Walker, node: ast.Call, name: str, when: Condition, written: str) -> None:
    names: tuple[ImportedName, ...] = ()
    level = 0
    how: Literal["import_module", "__import__"] = "__import__" if name == "__import__" else "import_module"
    if how == "__import__":
        listed, given = _constant(walker, node, 3, "fromlist"), _constant(walker, node, 4, "level")
        if isinstance(listed, tuple):
            names = tuple(ImportedName(str(one), "", span_of(node)) for one in listed)
        level = given if isinstance(given, int) else 0
    elif written.startswith("."):
        level = len(written) - len(written.lstrip("."))
        package = _argument(node, 1, "package")
        anchor = operand(package, walker.scope.names) if package is not None else None
        if anchor is None or (anchor[0] != "const" and anchor not in _OWN_PACKAGE):
            return
        if anchor[0] == "const":
            written, level = f"{str(anchor[1]).rsplit('.', level - 1)[0]}.{written.lstrip('.')}", 0
    _add(walker, span_of(node), written.lstrip("."), level, names, "", when, how)


def imported_package(walker: Walker, call: ast.Call) -> str:
    """The optional package that a dynamic import names, or an empty string."""
    argument = _argument(call, 0, "name")
    written = folded(argument, _names_here(walker)) if argument is not None else None
    return walker.optional_package(written) if written is not None else ""


def _names_here(walker: Walker) -> dict[str, Operand]:
    """What is known of local names, and of the module's where no local one hides them."""
    if walker.scope is walker.module:
        return walker.scope.names
    outer = {name: value for name, value in walker.module.names.items() if name not in walker.scope.locals}
    return {**outer, **walker.scope.names}


def _argument(node: ast.Call, index: int, name: str) -> ast.expr | None:
    if len(node.args) > index:
        return node.args[index]
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)


def _constant(walker: Walker, node: ast.Call, index: int, name: str) -> object:
    argument = _argument(node, index, name)
    value = operand(argument, walker.scope.names) if argument is not None else ("opaque",)
    return value[1] if value[0] == "const" else None


def import_skip_call(call: ast.Call) -> Condition:
    """``pytest.importorskip("m")``: what follows runs only where the package is there."""
    if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        return ("available", call.args[0].value)
    return TRUE


def _add(
    walker: Walker,
    span: Span,
    module: str,
    level: int,
    names: tuple[ImportedName, ...],
    bound: str,
    when: Condition,
    how: Literal["import", "from", "import_module", "__import__"],
) -> int:
    scope = walker.scope
    walker.imports.append(Import(scope.index, span, module, level, names, bound, when, scope.handled_imports > 0, how))
    return len(walker.imports) - 1


def _bind(
    walker: Walker, bound: str, imported: str, index: int, span: tuple[int, int, int, int], when: Condition
) -> None:
    scope = walker.scope
    scope.names.pop(bound, None)
    scope.bound.add(bound)
    if bound in scope.globals:
        walker.global_assigned.add(bound)
    if scope.kind in ("module", "class"):
        walker.bindings.append(Binding(scope.index, bound, "import", span, when, import_index=index, imported=imported))
