"""Imports that a patch config asks for, and that patch generation writes at the top of the generated file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.conditions import TRUE
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import, ImportedName

_EXTERNAL = "from_external"
_TARGET_FILE = re.compile(r"""\btarget_file\s*=\s*["'](?:[^"']*/)?(?P<stem>\w+)\.py["']""")


class PatchConfigImports(NamedTuple):
    """Imports at the top of the file ``generated``, which need not exist, as the patch config at ``path`` wants them.

    Their spans are those of the config; relative ones are relative to the generated file.
    """

    path: str
    generated: str
    imports: tuple[Import, ...]


def find_patch_imports(modules: Mapping[str, FileFacts], dialect: Dialect) -> Mapping[str, PatchConfigImports]:
    """What each patch config asks for, by its module name."""
    return {
        module: PatchConfigImports(
            path=facts.path,
            generated=_generated_module(module, facts, dialect),
            imports=tuple(_requested(facts, dialect)),
        )
        for module, facts in modules.items()
        if module.rpartition(".")[2].endswith(dialect.patch_config_suffix)
    }


def _requested(facts: FileFacts, dialect: Dialect) -> Iterator[Import]:
    """Imports from post-import blocks and from calls such as ``add_import``."""
    for block in facts.embedded:
        if block.facts is not None:
            yield from (imported for imported in block.facts.imports if imported.scope == 0)
    if dialect.add_import in facts.text or "replacement_" in facts.text or _EXTERNAL in facts.text:
        literals = {one.name: one.literal for one in facts.bindings if one.scope == 0 and one.literal is not None}
        words = (dialect.add_import, "replacement_", _EXTERNAL)
        for value in _values(facts.tree.body if facts.tree is not None else []):
            text = "\n".join(facts.lines[value.lineno - 1 : value.end_lineno])
            if any(word in text for word in words):
                for node in ast.walk(value):
                    if isinstance(node, ast.Call):
                        yield from _of_call(node, dialect, literals)


def _values(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Calls that statements at module level consist of; tables of names are not looked into."""
    for statement in statements:
        if isinstance(statement, ast.If | ast.For | ast.With | ast.Try):
            yield from _values(statement.body)
            yield from _values(getattr(statement, "orelse", []))
        value = getattr(statement, "value", None)
        for one in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            if isinstance(one, ast.Call):
                yield one


def _generated_module(module: str, facts: FileFacts, dialect: Dialect) -> str:
    """The dotted name of the file that a patch config generates: as it says, else after its own name."""
    folder, _, stem = module.rpartition(".")
    written = _TARGET_FILE.search(facts.text)
    named_alike = dialect.generated_prefix + stem.removesuffix(dialect.patch_config_suffix).rstrip("_")
    return f"{folder}.{dialect.generated_folder}.{written['stem'] if written is not None else named_alike}"


def _of_call(node: ast.Call, dialect: Dialect, literals: Mapping[str, str | None]) -> Iterator[Import]:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    if function == dialect.add_import:
        module = given.get("module", node.args[0] if node.args else None)
        listed = given.get("names", node.args[1] if len(node.args) > 1 else None)
        name = _text(module, literals)
        if module is not None and name:
            yield _import(name, tuple(_listed(listed, literals)), module)
        return
    positional = node.args if function.endswith(_EXTERNAL) else []
    module = given.get("replacement_module", positional[1] if len(positional) > 1 else None)
    attribute = given.get("replacement_name", positional[2] if len(positional) > 2 else None)
    name = _text(module, literals)
    if module is not None and name:
        attribute_name = _text(attribute, literals)
        names = (_name(attribute_name, attribute),) if attribute is not None and attribute_name else ()
        yield _import(name, names, module)
        return
    source = given.get("replacement_source")
    name, _, attribute_name = _text(source, literals).rpartition(".")
    if source is not None and name:
        yield _import(name, (_name(attribute_name, source),), source)


def _import(module: str, names: tuple[ImportedName, ...], node: ast.expr) -> Import:
    plain = module.lstrip(".")
    level = len(module) - len(plain)
    bound = "" if names else plain.partition(".")[0]
    return Import(0, span_of(node), plain, level, names, bound, TRUE, False, "from" if names else "import")


def _listed(node: ast.expr | None, literals: Mapping[str, str | None]) -> Iterator[ImportedName]:
    for element in getattr(node, "elts", ()):
        name = _text(element, literals)
        if name:
            yield _name(name, element)


def _name(name: str, node: ast.expr) -> ImportedName:
    """A listed name may be written ``a as b``."""
    attribute, _, alias = name.partition(" as ")
    return ImportedName(attribute.strip(), (alias or attribute).strip(), span_of(node))


def _text(node: ast.expr | None, literals: Mapping[str, str | None]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return literals.get(node.id) or ""
    return ""
