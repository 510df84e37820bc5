"""What the walk knows while it is inside one scope."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from typing import Literal

from veomni_opslint.conditions import FALSE, TRUE, Condition, either
from veomni_opslint.extract.choices import Choices
from veomni_opslint.extract.operands import Operand
from veomni_opslint.facts import Ref, Scope, Span

IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
BUILTINS = frozenset(dir(builtins))
USE_ERRORS = IMPORT_ERRORS | {"AttributeError", "NameError", "RuntimeError"}
_BROAD = frozenset({"Exception", "BaseException"})


@dataclass(slots=True)
class Loop:
    """The paths that leave the body of a loop other than by its end."""

    breaks: Condition = FALSE
    continues: Condition = FALSE


@dataclass(slots=True, eq=False, repr=False)
class ScopeState:
    """A scope under construction. ``names`` holds what is known of local names at the current point."""

    index: int
    parent: ScopeState | None
    kind: Literal["module", "class", "function", "lambda"]
    name: str
    qualname: str
    span: Span
    when: Condition = TRUE
    gate: Condition = TRUE
    arguments: ast.arguments | None = None
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    metaclass: str = ""
    returns: Condition = FALSE
    completes: Condition = TRUE
    leaves: Condition = FALSE
    outcomes: list[tuple[Condition, Operand]] = field(default_factory=list)
    choices: Choices = ()
    names: dict[str, Operand] = field(default_factory=dict)
    locals: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    refs: dict[tuple[str, int], tuple[Condition, Span, bool, bool, bool] | None] = field(default_factory=dict)
    local_uses: dict[tuple[str, int], Condition] = field(default_factory=dict)
    every_ref: list[Ref] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    handled_imports: int = 0
    handled_uses: int = 0
    raising: int = 0
    elements: dict[str, tuple[str, ...]] = field(default_factory=dict)
    suppressed: frozenset[str] = frozenset()
    caught: Condition = FALSE
    is_async: bool = False
    is_generator: bool = False

    def bind_parameters(self) -> None:
        """Take the parameters for local names whose value is not known."""
        arguments = self.arguments
        if arguments is None:
            return
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        listed += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        for argument in listed:
            self.names[argument.arg] = ("param", argument.arg)
            self.locals.add(argument.arg)

    def catch(self, when: Condition, error: str) -> None:
        """Note that *error* is raised under *when*: inside ``suppress(…)`` of it, what follows that runs then."""
        if self.suppressed and (error in self.suppressed or not self.suppressed.isdisjoint(_BROAD)):
            self.caught = either(self.caught, when)

    def freeze(self) -> Scope:
        """The scope as the facts hold it."""
        return Scope(
            index=self.index,
            parent=self.parent.index if self.parent is not None else -1,
            kind=self.kind,
            name=self.name,
            qualname=self.qualname,
            span=self.span,
            arguments=self.arguments,
            decorators=self.decorators,
            bases=self.bases,
            when=self.when,
            gate=self.gate,
            returns=self.returns,
            completes=self.completes,
            locals=frozenset(self.locals),
            is_async=self.is_async,
            is_generator=self.is_generator,
            choices=self.choices,
            metaclass=self.metaclass,
        )

    def child_qualname(self, name: str) -> str:
        """The qualified name of something defined here, as Python spells it."""
        if self.kind == "module":
            return name
        return f"{self.qualname}.{name}" if self.kind == "class" else f"{self.qualname}.<locals>.{name}"


def span_of(node: ast.expr | ast.stmt | ast.alias | ast.excepthandler | ast.pattern) -> Span:
    """The range of a node."""
    return (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def names_assigned(statements: list[ast.stmt]) -> set[str]:
    """Plain names that the statements assign, without looking into nested functions or classes."""
    found: set[str] = set()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Assign):
            stack.extend(node.targets)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
            stack.append(node.target)
        elif isinstance(node, ast.With | ast.AsyncWith):
            stack.extend(item.optional_vars for item in node.items if item.optional_vars is not None)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Tuple | ast.List):
            stack.extend(node.elts)
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
        if isinstance(node, ast.stmt):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                stack.extend(getattr(node, name, ()))
            test = getattr(node, "test", None)
            if test is not None:
                found.update(inner.target.id for inner in ast.walk(test) if isinstance(inner, ast.NamedExpr))
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            stack.extend(node.body)
    return found


def catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    """Whether a handler catches one of *errors* and goes on instead of raising again."""
    if handler.body and isinstance(handler.body[-1], ast.Raise):
        return False
    if handler.type is None:
        return True
    listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(item, "id", getattr(item, "attr", "")) in errors for item in listed)
