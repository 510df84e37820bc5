"""From the text of one file to its facts, with a single parse."""

from __future__ import annotations

import ast
import builtins
import sys

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.choices import choices_of
from veomni_opslint.extract.comments import statement_lines, suppressions
from veomni_opslint.extract.embedded import embedded_blocks
from veomni_opslint.extract.operands import truth_of
from veomni_opslint.extract.scope_state import ScopeState
from veomni_opslint.extract.walk import Walker
from veomni_opslint.extract.wanted import wanted_lines
from veomni_opslint.facts import EmbeddedBlock, FileFacts, ParseProblem, Ref, Suppression
from veomni_opslint.parsing import parse
from veomni_opslint.source import Source

__all__ = ["extract"]

_BUILTINS = frozenset(dir(builtins))
_WALK_DEPTH = 20_000
_HELD_CONDITIONS = frozenset({"cond", "select", "call", "item", "name", "const"})


def extract(source: Source, dialect: Dialect, deep: bool = False) -> FileFacts:
    """The facts of *source*; a file that cannot be parsed has a ``problem`` and nothing else but its suppressions.

    Unless *deep*, the bodies of functions in which no line looks like an import or a name of the dialect are passed
    over (their scopes are ``deferred``): that is most of a modeling file, and it halves the time of a run. Scopes,
    imports and bindings have the same index in shallow and in deep facts.
    """
    try:
        tree = parse(source.text)
    except SyntaxError as error:
        return _unparsable(source, error.lineno or _line_of_null(source), (error.offset or 1) - 1, error.msg)
    except (RecursionError, MemoryError):
        return _unparsable(source, 1, 0, "nested too deeply to be parsed")
    except ValueError as error:
        return _unparsable(source, _line_of_null(source), 0, str(error))
    # Pure Python frames do not use the C stack: the walk may go deeper than the parser would.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _WALK_DEPTH))
    try:
        walker = Walker(tree, dialect, wanted_lines(source.text, dialect), deep)
        blocks = tuple(
            block if inner is None else _block_facts(source.path, block, inner, code)
            for block, inner, code in embedded_blocks(walker, source.text, tree, dialect)
        )
    except RecursionError:
        return _unparsable(source, 1, 0, "nested too deeply to be analysed")
    finally:
        sys.setrecursionlimit(limit)
    for function in walker.functions:
        function.body = []
    return _facts(source.path, source.text, walker, tree, blocks, deep)


def _line_of_null(source: Source) -> int:
    """The line of a null byte, where the parser does not say it."""
    return source.text.count("\n", 0, max(source.text.find("\0"), 0)) + 1


def _unparsable(source: Source, line: int, column: int, message: str) -> FileFacts:
    problem = ParseProblem(max(line, 1), max(column, 0), message)
    return FileFacts(source.path, source.text, problem, suppressions=suppressions(source.text))


def _block_facts(path: str, block: EmbeddedBlock, walker: Walker, code: str) -> EmbeddedBlock:
    facts = _facts(path, code, walker, None, (), True)
    return EmbeddedBlock(block.call, block.callee, facts, None)


def _facts(
    path: str, text: str, walker: Walker, tree: ast.Module | None, blocks: tuple[EmbeddedBlock, ...], deep: bool
) -> FileFacts:
    module = walker.module
    truths = tuple(
        (name, truth_of(value))
        for name, value in module.names.items()
        if value[0] in _HELD_CONDITIONS and name not in walker.global_assigned and value != ("name", name)
    )
    chosen = ((name, choices_of(value)) for name, value in module.names.items() if name not in walker.global_assigned)
    return FileFacts(
        path=path,
        text=text,
        problem=None,
        deep=deep,
        scopes=tuple(scope.freeze() if isinstance(scope, ScopeState) else scope for scope in walker.scopes),
        imports=tuple(walker.imports),
        refs=tuple(_refs(walker.module, walker.walked())),
        calls=tuple(walker.calls),
        bindings=tuple(walker.bindings),
        slots=tuple(walker.slots),
        entry_strings=tuple(walker.entry_strings),
        embedded=blocks,
        suppressions=_suppressions(text, tree, walker),
        exports=tuple(walker.exports) if walker.exports is not None else None,
        truths=truths,
        choices=tuple((name, among) for name, among in chosen if among),
        attributes=tuple(walker.attributes),
        tree=tree,
    )


def _suppressions(text: str, tree: ast.Module | None, walker: Walker) -> tuple[Suppression, ...]:
    if tree is None:
        return ()
    return suppressions(text, lambda: statement_lines(tree, walker.functions))


def _refs(module: ScopeState, scopes: list[ScopeState]) -> list[Ref]:
    module_names = module.bound | module.locals
    found: list[Ref] = []
    for scope in scopes:
        owners = _owners(scope)
        local: dict[str, bool] = {}
        for (name, _), use in scope.refs.items():
            if use is None:
                continue
            root = name.partition(".")[0]
            hidden = local.get(root)
            if hidden is None:
                hidden = local[root] = _is_local(root, owners) or (
                    root in _BUILTINS and root not in module_names and not any(root in owner.bound for owner in owners)
                )
            if hidden and not _is_self(name):
                continue
            when, span, call, handled, import_handled = use
            found.append(Ref(scope.index, name, span, when, call, handled, import_handled))
        found.extend(scope.every_ref)
    return found


def _owners(scope: ScopeState) -> list[ScopeState]:
    """The function scopes whose names are visible in *scope*, itself first."""
    owners = []
    current: ScopeState | None = scope
    while current is not None and current.kind != "module":
        if current.kind != "class" or current is scope:
            owners.append(current)
        current = current.parent
    return owners


def _is_local(root: str, owners: list[ScopeState]) -> bool:
    for owner in owners:
        if root in owner.bound or root in owner.globals:
            return False
        if root in owner.locals:
            return True
    return False


def _is_self(name: str) -> bool:
    return name.startswith(("self.", "cls.")) and name.count(".") == 1
