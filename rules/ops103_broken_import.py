"""An import, `__all__` or a `"module:attr"` string names a module or attribute of this project that does not exist."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import, Span
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.presence import asks_first, is_for_type_checkers
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


class _Missing(NamedTuple):
    """``name`` (empty: the module itself) that ``module`` lacks, written at ``span`` of a file, and what that does.

    ``fatal``: the module that the file is cannot be loaded.
    """

    facts: FileFacts
    module: str
    name: str
    span: Span
    effect: str
    fatal: bool = False


def check(model: OpsModel) -> Iterator[Finding]:
    found = [
        (module, one) for module, facts in sorted(model.symbols.modules.items()) for one in _of(model, module, facts)
    ]
    unloadable = {module for module, one in found if one.fatal}
    for module, one in found:
        # What a module lacks that cannot be loaded anyway is but a consequence.
        if not one.name or one.module not in unloadable or (one.fatal and one.module == module):
            yield _finding(model, one)


def _of(model: OpsModel, module: str, facts: FileFacts) -> Iterator[_Missing]:
    config = model.patch_imports.get(module)
    generated = config.generated if config is not None else ""
    for imported in facts.imports:
        if _counts(model, imported):
            lacking = [
                tuple(_missing(model, facts, home, imported)) for home in _homes(module, generated, facts, imported)
            ]
            if all(lacking):
                yield from lacking[0]
    for imported in config.imports if config is not None else ():
        if _counts(model, imported):
            effect = f"loading {generated.rpartition('.')[2]}, which is generated from this, fails"
            yield from (one._replace(effect=effect, fatal=False) for one in _missing(model, facts, generated, imported))
    yield from _exports(model, module, facts)
    yield from _entries(model, module, facts)


def _counts(model: OpsModel, imported: Import) -> bool:
    """Whether an import is about the project and nothing catches its failure."""
    if not imported.level and not model.presence.is_judged(imported.module):
        return False
    return not imported.handled and not is_for_type_checkers(imported.when)


def _homes(module: str, generated: str, facts: FileFacts, imported: Import) -> tuple[str, ...]:
    """The modules in one of which an import will run: the body of a patch runs in the generated file."""
    if not generated or not imported.level or not imported.scope:
        return (module,)
    outermost = facts.scopes[imported.scope]
    while outermost.parent > 0:
        outermost = facts.scopes[outermost.parent]
    patched = any("." in decorator and _is_variable(facts, decorator) for decorator in outermost.decorators)
    return (generated,) if patched else (module, generated)


def _is_variable(facts: FileFacts, decorator: str) -> bool:
    root = decorator.partition(".")[0]
    return any(one.name == root and one.kind == "assign" for one in facts.bindings)


def _missing(model: OpsModel, facts: FileFacts, module: str, imported: Import) -> Iterator[_Missing]:
    presence, symbols = model.presence, model.symbols
    if imported.level and imported.how != "from" and module not in symbols.packages:
        return
    target = symbols.absolute(module, imported)
    if not presence.is_judged(target or module):
        return
    if imported.when != TRUE and asks_first(imported.when, target, tuple(one.name for one in imported.names)):
        return
    there = presence.module(target) if target else False
    lacking: list[tuple[str, str, Span]] = []
    if there is False and (not target or _is_surely_a_package(model, module, imported)):
        lacking = [(target or "." * imported.level + imported.module, "", imported.span)]
    elif there and imported.how == "from":
        names = (one for one in imported.names if one.name != "*")
        lacking = [(target, one.name, one.span) for one in names if presence.attribute(target, one.name) is False]
    if lacking:
        effect, fatal = _effect(model, facts, module, imported)
        yield from (_Missing(facts, *one, effect, fatal) for one in lacking)


def _is_surely_a_package(model: OpsModel, module: str, imported: Import) -> bool:
    """A relative import in a folder of scripts without ``__init__`` depends on how the script is started."""
    if not imported.level or module.partition(".")[0] == model.package:
        return True
    return module in model.symbols.packages or module.rpartition(".")[0] in model.symbols.modules


def _exports(model: OpsModel, module: str, facts: FileFacts) -> Iterator[_Missing]:
    if facts.exports is None or not model.presence.is_judged(module):
        return
    for name, span in (*facts.exports, *_added_exports(facts)):
        if model.presence.attribute(module, name) is False:
            yield _Missing(facts, module, name, span, f"`from {module} import *` raises AttributeError")


def _added_exports(facts: FileFacts) -> Iterator[tuple[str, Span]]:
    """Strings of ``__all__.append("a")`` and ``__all__.extend(["a", "b"])``."""
    for statement in facts.tree.body if facts.tree is not None and "__all__." in facts.text else ():
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and call.args and dotted(call.func) in ("__all__.append", "__all__.extend"):
            for node in getattr(call.args[0], "elts", call.args):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value, span_of(node)


def _entries(model: OpsModel, module: str, facts: FileFacts) -> Iterator[_Missing]:
    """Strings such as ``"veomni.ops.kernels.rotary.npu:apply"``; in tests they may be wrong on purpose."""
    package = model.package
    if module != package and not module.startswith(f"{package}."):
        return
    for text, span, _ in facts.entry_strings:
        target, _, attribute = text.partition(":")
        if target.partition(".")[0] != package:
            continue
        name = attribute.partition(".")[0]
        there = model.presence.module(target)
        if there is False or (there and model.presence.attribute(target, name) is False):
            yield _Missing(facts, target, name if there else "", span, "it fails when this entry is used")


def _effect(model: OpsModel, facts: FileFacts, module: str, imported: Import) -> tuple[str, bool]:
    """What happens when an import fails, and whether its file can be loaded all the same."""
    scope = facts.scopes[imported.scope]
    while scope.kind in ("class", "lambda") and scope.parent >= 0:
        scope = facts.scopes[scope.parent]
    if scope.kind == "module":
        fatal = model.loading.certain(imported.when)
        return "loading this file fails" if fatal else "loading this file fails where this branch is taken", fatal
    copied = model.symbols.modules.get(module) is not facts
    where = f" in {module.rpartition('.')[2]}, into which this body is copied" if copied else ""
    return f"it fails when {scope.qualname.replace('.<locals>', '')}() runs{where}", False


def _finding(model: OpsModel, missing: _Missing) -> Finding:
    if missing.name:
        what = f"{missing.module} has no {missing.name}"
    elif missing.module.startswith("."):
        what = f"`{missing.module}` leads out of the package"
    else:
        what = f"there is no module {missing.module}"
    place = model.place(missing.facts.path, missing.span)
    return rule.finding(place, f"{what}: {missing.effect}{_hint(model, missing)}")


def _hint(model: OpsModel, missing: _Missing) -> str:
    if missing.name:
        defining = _defining(model, missing)
        if len(defining) == 1:
            return f"; {missing.name} is defined in {defining[0]}"
        others = (one for one in model.presence.names_of(missing.module) if one != missing.name)
        close = _closest(missing.name, others, 0.75)
        return f"; did you mean {close}?" if close else "; import it from where it is now, or define it there"
    parent, _, last = missing.module.rpartition(".")
    moved = [name for name in model.symbols.modules if name.endswith(f".{last}")]
    if len(moved) == 1:
        return f"; did you mean {moved[0]}?"
    siblings = (name for name in model.symbols.modules if name.rpartition(".")[0] == parent)
    close = _closest(last, (name.rpartition(".")[2] for name in siblings), 0.82)
    return f"; did you mean {close}?" if close else "; correct the name, or remove what nobody can run"


def _defining(model: OpsModel, missing: _Missing) -> list[str]:
    """The modules that define the name, but not the one that asks for it: it cannot import from itself."""
    return [
        module
        for module, facts in model.modules_in(model.package)
        if facts.path != missing.facts.path
        and any(one.scope == 0 and one.name == missing.name and one.kind == "scope" for one in facts.bindings)
    ]


def _closest(name: str, known: Iterable[str], cutoff: float) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and needed for findings only

    return next(iter(get_close_matches(name, sorted(set(known)), n=1, cutoff=cutoff)), "")
