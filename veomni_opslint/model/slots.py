"""The slots of the package: which calls create one, and its op, variant or field also where another file knows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, SlotCall, Span, TextParts
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols, Target
from veomni_opslint.places import place_of

SlotSource: TypeAlias = Literal["generated", "patch_gen_config", "other"]
_MAX_BASES = 10


@dataclass(frozen=True, slots=True)
class OpSlotInfo:
    """One ``OpSlot(op_name, variant)``. ``live``: a module attribute that no later slot of the module replaces.

    ``namespace`` is the facts of the file, or of the embedded block, in which ``names`` and ``scope`` are.
    """

    path: str
    module: str
    var: str
    op_name: str | None
    variant: str | None
    source: SlotSource
    embedded: bool
    at_module_level: bool
    live: bool
    place: Place
    span: Span
    names: tuple[str, ...]
    scope: int
    namespace: FileFacts = field(repr=False, compare=False)

    @property
    def line(self) -> int:
        """The line of the call."""
        return self.place.line

    @property
    def written(self) -> str:
        """The slot as one would write it, with ``…`` for what is not known."""
        known = [f'"{value}"' if value is not None else "…" for value in (self.op_name, self.variant)]
        return f"OpSlot({', '.join(known)})"


@dataclass(frozen=True, slots=True)
class ConfigSlotInfo:
    """One ``OpsConfigSlot(field)``."""

    path: str
    module: str
    var: str
    field_name: str | None
    source: SlotSource
    embedded: bool
    at_module_level: bool
    live: bool
    place: Place
    span: Span
    names: tuple[str, ...]
    scope: int
    namespace: FileFacts = field(repr=False, compare=False)

    @property
    def line(self) -> int:
        """The line of the call."""
        return self.place.line

    @property
    def written(self) -> str:
        """The slot as one would write it, with ``…`` for what is not known."""
        return f'OpsConfigSlot("{self.field_name}")' if self.field_name is not None else "OpsConfigSlot(…)"


def find_slots(
    modules: Mapping[str, FileFacts], symbols: Symbols, package: str, dialect: Dialect
) -> Iterator[OpSlotInfo | ConfigSlotInfo]:
    """All slots that the package under check creates, in order of module and then of the file."""
    classes = _SlotClasses(symbols, f"{package}.{dialect.ops_package}", dialect)
    for module in sorted(modules):
        if module != package and not module.startswith(package + "."):
            continue
        facts = modules[module]
        namespaces = [facts, *(block.facts for block in facts.embedded if block.facts is not None)]
        for namespace in namespaces:
            lasts = {slot.var: slot for slot in namespace.slots if slot.at_module_level}
            for call in namespace.slots:
                if classes.creates_slot(module, namespace, call):
                    yield _slot(symbols, dialect, module, facts, namespace, call, lasts.get(call.var) is call)


def slot_source(path: str, dialect: Dialect) -> SlotSource:
    """Which kind of file a slot stands in."""
    folders = path.split("/")
    if dialect.generated_folder in folders[:-1] or folders[-1].startswith(dialect.generated_prefix):
        return "generated"
    if folders[-1].removesuffix(".py").endswith(dialect.patch_config_suffix):
        return "patch_gen_config"
    return "other"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _SlotClasses:
    """Tells the slot classes of the ops package from other classes of that name."""

    symbols: Symbols
    ops_package: str
    dialect: Dialect
    _known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def creates_slot(self, module: str, namespace: FileFacts, call: SlotCall) -> bool:
        """Whether the call's function is a slot class, or something that is not known to be another one."""
        if namespace is not self.symbols.modules[module]:
            return not any(binding.kind == "scope" for binding in namespace.bindings if binding.name == call.callee)
        key = (module, call.callee)
        if call.scope:
            return self._decide(module, call)
        if key not in self._known:
            self._known[key] = self._decide(module, call)
        return self._known[key]

    def _decide(self, module: str, call: SlotCall) -> bool:
        member = self.dialect.slot_guard if call.kind == "op" else "bind"
        targets = self.symbols.resolve(module, call.scope, call.callee)
        return all(target.kind != "scope" or self._is_slot_class(target, member, 0) for target in targets)

    def _is_slot_class(self, target: Target, member: str, depth: int) -> bool:
        if target.module == self.ops_package or target.module.startswith(self.ops_package + "."):
            return True
        facts = self.symbols.modules[target.module]
        if depth > _MAX_BASES or target.rest:
            return False
        if any(binding.scope == target.scope and binding.name == member for binding in facts.bindings):
            return True
        return any(
            base.kind != "scope" or self._is_slot_class(base, member, depth + 1)
            for name in facts.scopes[target.scope].bases
            for base in self.symbols.resolve(target.module, 0, name)
        )


def _slot(
    symbols: Symbols, dialect: Dialect, module: str, facts: FileFacts, namespace: FileFacts, call: SlotCall, live: bool
) -> OpSlotInfo | ConfigSlotInfo:
    source = slot_source(facts.path, dialect)
    embedded = namespace is not facts
    home = f"{module.rpartition('.')[0]}.{dialect.generated_folder}.{dialect.generated_folder}" if embedded else module
    place = place_of(facts.path, facts.text, call.span)
    first = call.op_name
    if first is None:
        first = _text(symbols, namespace, home, call.scope, call.op_name_parts)
    if call.kind == "config":
        return ConfigSlotInfo(
            facts.path, module, call.var, first, source, embedded, call.at_module_level, live, place, call.span,
            call.names, call.scope, namespace,
        )  # fmt: skip
    variant = call.variant
    if variant is None:
        variant = _text(symbols, namespace, home, call.scope, call.variant_parts)
    return OpSlotInfo(
        facts.path, module, call.var, first, variant, source, embedded, call.at_module_level, live, place, call.span,
        call.names, call.scope, namespace,
    )  # fmt: skip


def _text(symbols: Symbols, namespace: FileFacts, home: str, scope: int, parts: TextParts) -> str | None:
    if not parts or any(kind == "param" for kind, _ in parts):
        return None
    texts = [text if kind == "text" else _literal(symbols, namespace, home, scope, text) for kind, text in parts]
    return None if None in texts else "".join(text for text in texts if text is not None)


def _literal(symbols: Symbols, namespace: FileFacts, home: str, scope: int, dotted: str) -> str | None:
    """The string that a name of the namespace, whose relative imports start from *home*, always stands for."""
    targets: tuple[Target, ...]
    if symbols.modules.get(home) is namespace:
        targets = symbols.resolve(home, scope, dotted)
    else:
        targets = tuple(_imported(symbols, namespace, home, dotted))
    literals = {symbols.literal(target) for target in targets}
    return literals.pop() if len(literals) == 1 else None


def _imported(symbols: Symbols, namespace: FileFacts, home: str, dotted: str) -> Iterator[Target]:
    root, _, rest = dotted.partition(".")
    for binding in namespace.bindings:
        if binding.scope or binding.name != root or binding.kind != "import":
            continue
        imported = namespace.imports[binding.import_index]
        source = symbols.absolute(home, imported)
        names = [binding.imported, rest] if imported.how == "from" else [rest]
        if source in symbols.modules:
            yield from symbols.resolve(source, 0, ".".join(name for name in names if name))
