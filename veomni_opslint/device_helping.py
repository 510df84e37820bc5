"""Asking the project's device helpers instead of naming CUDA: the fix of OPS205."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Fix, Place
from veomni_opslint.guarding import written_name
from veomni_opslint.model import OpsModel
from veomni_opslint.model.expression_places import ancestors, expression_at
from veomni_opslint.model.factories import parsed
from veomni_opslint.places import place_of
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, is_generated, is_patch, module_of

_TEXTS = {"cuda": "{type}", "nccl": "{backend}"}
_ONLY_CUDA = frozenset({"is_available", "device_count", "is_initialized"})


class _Change(NamedTuple):
    """The helpers that are asked, by what they are for, and the edits, in which each is called by name."""

    needs: tuple[str, ...]
    edits: tuple[tuple[int, int, str], ...]


def helped(model: OpsModel, place: Place, helpers: Mapping[str, str]) -> Proposal:
    """Put a helper in the place of a string, of ``torch.cuda`` in front of a function, or of ``.cuda()``.

    Raises:
        NotPossibleError: what is asked is about CUDA itself, or the helper cannot be had here.
    """
    facts = model.files[place.path]
    tree = parsed(facts.text)
    node = expression_at(facts, place) or _call_of_method(tree, facts, place)
    if tree is None or node is None:
        raise NotPossibleError("it is in code that is held in a string")
    change = _change(model, facts, place, node, ancestors(tree, node))
    module = module_of(model, place.path)
    calls: dict[str, str] = {}
    wanted: dict[str, list[str]] = {}
    for what in change.needs:
        helper = helpers.get(what, "")
        home = next((home for home, _ in model.modules_in(model.package) if _defines(model, home, helper)), None)
        if home is None:
            raise NotPossibleError(f"the project has no helper for the {what} of the device")
        known = {model.symbols.absolute(module, one) for one in facts.imports if one.scope == 0}
        if home == module or (home not in known and module in model.loading.closure(home)):
            raise NotPossibleError(f"`{home}`, which has the helper, imports this module")
        calls[what] = f"{helper}()"
        if not model.symbols.bindings(module).get(helper):
            wanted.setdefault(home, []).append(helper)
    statements = [
        f"from {written_name(model, module, facts, home)} import {', '.join(sorted(names))}"
        for home, names in wanted.items()
    ]
    if len(statements) > 1:
        raise NotPossibleError("the helpers are in several modules")
    if statements and (is_generated(model, place.path) or is_patch(model, place)):
        raise NotPossibleError(f"the generated file needs `{statements[0]}`, which its patch config has to add")
    edits = [Edit(start, end, text.format(**calls)) for start, end, text in change.edits]
    asked = " and ".join(f"`{one}`" for one in calls.values())
    return Proposal(Fix(f"ask {asked}", safe=False), lambda: _edits(model, facts, edits, statements))


def _call_of_method(tree: ast.Module | None, facts: FileFacts, place: Place) -> ast.expr | None:
    """The call ``x.cuda()`` of which *place* is the name of the method."""
    _, end = extent(facts.text, place)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.end_lineno == place.line:
            called = place_of(facts.path, facts.text, span_of(node.func))
            if extent(facts.text, called)[1] == end:
                return node
    return None


def _change(model: OpsModel, facts: FileFacts, place: Place, node: ast.expr, around: tuple[ast.AST, ...]) -> _Change:
    start, end = extent(facts.text, place)
    outer = around[0]
    if isinstance(node, ast.Constant) and node.value in ("cuda", "nccl"):
        if isinstance(outer, ast.IfExp) and node is not outer.test:
            start, end = extent(facts.text, model.place(place.path, span_of(outer)))
        return _Change(("type" if node.value == "cuda" else "backend",), ((start, end, _TEXTS[str(node.value)]),))
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return _text(facts.text, start, end, node, outer)
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute) and called.attr == "cuda" and isinstance(node, ast.Call):
        return _method(model, facts, place, node, called)
    if not isinstance(called, ast.Attribute) or called.attr in _ONLY_CUDA:
        raise NotPossibleError("whether there is CUDA may be what is meant, and no helper asks that")
    if ast.unparse(called.value) != "torch.cuda" or not facts.text.startswith("torch.cuda.", start):
        raise NotPossibleError("`torch.cuda` goes by another name here, whose import has to change")
    return _Change(("module",), ((start, start + len("torch.cuda"), "{module}"),))


def _text(text: str, start: int, end: int, node: ast.Constant | ast.JoinedStr, outer: ast.AST) -> _Change:
    """A string that begins with ``cuda:``, or one with both backends."""
    written = text[start:end]
    quote = min((written.find(one) for one in ("'", '"') if one in written), default=-1)
    prefix = written[:quote].lower()
    if quote < 0 or prefix not in ("", "f") or written[quote : quote + 3] in ('"""', "'''"):
        raise NotPossibleError("the string is written in an unusual way")
    inside = start + quote + 1
    if isinstance(node, ast.Constant) and written.count("cuda:nccl") == 1:
        at = start + written.index("cuda:nccl")
        plain = _plain(written)
        return _Change(
            ("type", "backend"),
            (*(((start, start, "f"),) if plain else ()), (at, at + len("cuda:nccl"), "{{{type}}}:{{{backend}}}")),
        )
    if not text.startswith("cuda:", inside):
        raise NotPossibleError("the string names more than the device")
    if prefix == "f":
        return _Change(("type",), ((inside, inside + len("cuda"), "{{{type}}}"),))
    if isinstance(outer, ast.Attribute | ast.BinOp) or not _plain(written):
        # What is done to the string binds more closely than the sum.
        return _Change(("type",), ((start, inside + len("cuda"), "{type} + " + written[: quote + 1]),))
    return _Change(("type",), ((start, start, "f"), (inside, inside + len("cuda"), "{{{type}}}")))


def _plain(written: str) -> bool:
    return "{" not in written and "}" not in written and "\\" not in written


def _method(model: OpsModel, facts: FileFacts, place: Place, node: ast.Call, called: ast.Attribute) -> _Change:
    """``x.cuda()`` is ``x.to(…)``."""
    if node.args or any(one.arg not in ("non_blocking", "memory_format") for one in node.keywords):
        raise NotPossibleError("the device is chosen by its number")
    _, at = extent(facts.text, model.place(place.path, span_of(called)))
    opened = facts.text.index("(", at) + 1
    separator = ", " if node.keywords else ""
    return _Change(("type",), ((at - len("cuda"), at, "to"), (opened, opened, "{type}" + separator)))


def _defines(model: OpsModel, home: str, helper: str) -> bool:
    return any(one.kind == "scope" for one in model.symbols.bindings(home).get(helper, ()))


def _edits(model: OpsModel, facts: FileFacts, edits: Sequence[Edit], statements: Sequence[str]) -> Iterator[Edit]:
    yield from edits
    for statement in statements:
        from veomni_opslint.fixing.code import code_of  # noqa: PLC0415 - libcst is slow to import

        yield code_of(facts.text, model.package).at_top(statement, before=min(edit.start for edit in edits))
