"""Names of the project that its documents write in code: paths, modules, attributes, slots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.markdown import Code, Document, Fence, Paragraph, Table
from veomni_opslint.model.documentation import code_place, outline
from veomni_opslint.model.ops_model import OpsModel

_MAKING = re.compile(r"(?i)\b(?:add|adding|creat\w+|puts?|new|your|my|place|writ\w+|introduc\w+|recipes?|extend\w*)\b")
_MAKING_KERNEL = re.compile(
    r"(?i)\b(?:add|adding|creat\w+|new|writ\w+|introduc\w+|recipes?)\b[^/.]{0,60}"
    r"\b(?:ops?|kernels?|backends?|implementations?|fields?)\b"
)
_GUIDE = re.compile(r"(?i)\b(?:checklists?|guides?|templates?|how to|tutorials?|contribut\w+|support(?:ing)? new)\b")
_PAST = re.compile(
    r"(?i)\b(?:removed?|no longer|renam\w+|replac\w+|deleted?|dropped|former\w*|previous\w*|used to|deprecat\w+|legacy|"
    r"invalid|reject\w*|moved|unsupported|not exist|planned|future|todo|propos\w+|upcoming|typos?|old|earlier)\b"
)
_PLACEHOLDER = re.compile(
    r"(?i)[<>*$%]|\.\.\.|…|\b(?:your|my|foo|bar|baz|xxx|example|some)(?:_|\b)|_name\b|\bmodel_name"
)
_NAME = re.compile(r"\w+[./(]")
_PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*")
_JUDGED_FILES = (".py", ".md", ".yaml", ".yml")
_BRACES = re.compile(r"\{([\w-]+(?:, ?[\w-]+)+)\}")
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n(]+)", re.MULTILINE)
_IN_FILE = re.compile(r"`([\w./-]+\.py)`\s*(?:—|-|:)\s*((?:`[^`]+`(?:\s*,\s*|\s+and\s+)?)+)")
_MAX_CONTEXT = 10_000
_SLOT = re.compile(r"""["'](\w+)["'],\s*["'](\w+)["']""")


class Mention(NamedTuple):
    """A code span, the text that it stands in, and the headings above it."""

    document: Document
    code: Code
    around: str
    above: str

    @property
    def place(self) -> Place:
        """Where it is written."""
        return code_place(self.document, self.code)

    @property
    def makes(self) -> bool:
        """Whether the text is about something that the reader is to make."""
        return _is_making(f"{self.above} {self.around}")

    @property
    def makes_kernel(self) -> bool:
        """Whether the text is about an op or an implementation that the reader is to add."""
        return _is_making_kernel(f"{self.above}. {self.around}")

    @property
    def past(self) -> bool:
        """Whether the text is about what was, or is not to be."""
        return _is_past(self.around)


class Absence(NamedTuple):
    """Something that a document names and that does not exist; ``names`` are those that do, for a suggestion."""

    place: Place
    written: str
    what: str
    names: tuple[str, ...] = ()


def mentions(document: Document) -> Iterator[Mention]:
    """Every code span of the running text and of the tables."""
    for block in document.blocks:
        if isinstance(block, Fence):
            continue
        above = outline(block)
        if isinstance(block, Paragraph):
            texts = [(block.text, block.text.text[:_MAX_CONTEXT])]
        else:
            texts = []
            for row in (block.header, *block.rows):
                whole = " ".join(cell.text for cell in row)[:_MAX_CONTEXT]
                texts += [(cell, whole) for cell in row]
        for text, around in texts:
            for code in text.codes:
                yield Mention(document, code, around, above)


def makes_something(block: Table | Paragraph | Fence) -> bool:
    """Whether a block is about something that the reader is to make."""
    lead = block.lead.text if isinstance(block, Fence | Table) and block.lead is not None else ""
    return _is_making(f"{outline(block)} {lead}")


def makes_kernel(block: Fence) -> bool:
    """Whether a block is about an op or an implementation that the reader is to add."""
    return _is_making_kernel(f"{outline(block)}. {block.lead.text if block.lead is not None else ''}")


def absent_names(model: OpsModel) -> Iterator[Absence]:
    """Paths, modules, attributes and slots that the documents name and that do not exist."""
    classes = _classes(model)
    for document in model.documents:
        for mention in mentions(document):
            text = mention.code.text
            if not _NAME.match(text) or _PLACEHOLDER.search(text):
                continue
            found = (
                _absent_slot(model, text)
                or _absent_member(classes, text)
                or _absent_name(model, mention)
                or _absent_path(model, mention)
            )
            if found is not None and not mention.past:
                yield found._replace(place=mention.place)
        for block in document.blocks:
            if isinstance(block, Paragraph) and ".py`" in block.text.text and not _PAST.search(block.text.text):
                yield from _absent_definitions(model, document, block)
            if isinstance(block, Fence) and model.package in "".join(block.lines):
                yield from _in_fence(model, document, block)


@lru_cache(maxsize=64)
def _is_past(text: str) -> bool:
    return _PAST.search(text) is not None


@lru_cache(maxsize=64)
def _is_making_kernel(text: str) -> bool:
    return _MAKING_KERNEL.search(text) is not None


@lru_cache(maxsize=64)
def _is_making(text: str) -> bool:
    return _MAKING.search(text) is not None or _GUIDE.search(text) is not None


def _absent_slot(model: OpsModel, text: str) -> Absence | None:
    """``OpSlot("op", "variant")`` for a pair that nothing registers."""
    dialect = model.dialect
    pair = _SLOT.search(text) if text.startswith(f"{dialect.op_slot}(") else None
    known = model.kernel_variants() if pair is not None else {}
    if pair is None or not known or model.registrations.unresolved or (pair[1], pair[2]) in known:
        return None
    near = tuple(f"{op}/{variant}" for op, variant in known)
    return Absence(Place("", 1), f"{pair[1]}/{pair[2]}", "no kernel is registered for it", near)


def _classes(model: OpsModel) -> dict[str, list[str]]:
    """The classes of the architecture, with the texts of the files that define each."""
    dialect = model.dialect
    names = (dialect.ops_config, dialect.kernel_spec, dialect.backend_spec, dialect.op_spec, dialect.op_slot)
    more = (dialect.config_slot, dialect.hardware_requirement, dialect.registry_class, dialect.op_scope)
    found: dict[str, list[str]] = {name: [] for name in (*names, *more)}
    pattern = re.compile(rf"^class ({'|'.join(map(re.escape, found))})\b", re.MULTILINE)
    texts = [facts.text for _, facts in model.modules_in(model.ops_package)] if model.documents else []
    if model.ops_config is not None:
        texts.append(model.module(model.ops_config.module).text)
    for text in texts:
        for name in pattern.findall(text) if "\nclass " in text else ():
            found[name].append(text)
    return found


def _absent_member(classes: dict[str, list[str]], text: str) -> Absence | None:
    """``BackendSpec.requires``: an attribute of a class of the architecture."""
    owner, _, rest = text.partition(".")
    texts = classes.get(owner)
    member = re.fullmatch(r"([A-Za-z]\w*)(?:\s*[(=].*)?", rest) if texts else None
    if member is None or any(re.search(rf"\b{member[1]}\b", one) for one in texts or ()):
        return None
    return Absence(Place("", 1), f"{owner}.{member[1]}", f"{owner} has no such attribute")


def _absent_name(model: OpsModel, mention: Mention) -> Absence | None:
    """``package.module.attribute`` or ``package.module:attribute``."""
    if not mention.code.text.startswith(f"{model.package}."):
        return None
    found = re.fullmatch(r"(\w+(?:\.\w+)+)(?::(\w+))?(?:\(.*\))?", mention.code.text)
    return _absent_attribute(model, found[1], found[2] or "", mention.makes) if found is not None else None


def _absent_attribute(model: OpsModel, dotted: str, attribute: str, makes: bool) -> Absence | None:
    """What does not exist of a dotted name or of an attribute of it; nothing that the reader may be about to write."""
    presence, symbols = model.presence, model.symbols
    module, rest = dotted, [attribute] if attribute else []
    while module not in symbols.modules and module not in symbols.packages and "." in module:
        module, _, name = module.rpartition(".")
        rest.insert(0, name)
    written = f"{dotted}:{attribute}" if attribute else dotted
    may_be_module = len(rest) > 1 or module in symbols.packages
    if not rest or (may_be_module and makes) or presence.attribute(module, rest[0]) is not False:
        return None
    if may_be_module and presence.module(f"{module}.{rest[0]}") is not False:
        return None
    return Absence(Place("", 1), written, f"{module} has no {rest[0]}", tuple(presence.names_of(module)))


def _absent_definitions(model: OpsModel, document: Document, block: Paragraph) -> Iterator[Absence]:
    """Functions and classes that a line says to be in a file: ``path.py`` - ``function()``."""
    text = block.text.text
    for found in _IN_FILE.finditer(text):
        facts = model.files.get(found[1])
        for name in re.findall(r"`(\w+)(?:\([^`]*\))?`", found[2]) if facts is not None else ():
            if facts is not None and not re.search(rf"\b{name}\b", facts.text):
                at = text.index(f"`{name}", found.start(2))
                line_start = text.rfind("\n", 0, at) + 1
                line = block.text.line + text.count("\n", 0, at)
                place = Place(document.path, line, at - line_start + 2)
                yield Absence(place, name, f"{found[1]} has nothing of that name", tuple(_definitions(facts)))


def _definitions(facts: FileFacts) -> Iterator[str]:
    return (scope.name for scope in facts.scopes if scope.parent == 0 and scope.kind in ("class", "function"))


def _absent_path(model: OpsModel, mention: Mention) -> Absence | None:
    """A file or folder, from the root of the project or from the folder of the document."""
    text, document = mention.code.text, mention.document.path
    if "/" not in text:
        return None
    braces = _BRACES.search(text)
    options = re.split(r", ?", braces[1]) if braces is not None else [""]
    for option in options:
        path = text.replace(braces[0], option) if braces is not None else text
        path = path.partition("::")[0]
        path = re.sub(r":\d+(?:-\d+)?$", "", path)
        if not _PATH.fullmatch(path) or path.startswith((".", "/")) or "//" in path:
            return None
        is_folder = path.endswith("/")
        if not is_folder and not path.endswith(_JUDGED_FILES):
            return None
        files, folders = _paths(model)
        for base in ("", document.rpartition("/")[0]):
            whole = f"{base}/{path}" if base else path
            start = whole if not base else f"{base}/{path.partition('/')[0]}"
            if whole.rstrip("/") in folders or whole in files:
                break
            if not _is_judged(model, whole, start, folders, base) or mention.makes:
                continue
            name = path.rstrip("/").rpartition("/")[2]
            near = [one for one in files if one.endswith(f"/{name}")] if name != "__init__.py" else []
            return Absence(Place("", 1), path, "there is no such path", tuple(near))
    return None


def _is_judged(model: OpsModel, whole: str, start: str, folders: frozenset[str], base: str) -> bool:
    """Whether all files at that place are known: those of the package, and in a run on everything the others."""
    package = model.project.package_path
    if whole.startswith(f"{package}/"):
        return not base or start in folders
    top = whole.partition("/")[0]
    return not base and top in folders and not whole.endswith("/") and bool(model.test_modules)


@lru_cache(maxsize=2)
def _known_paths(files: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    folders: set[str] = set()
    for path in files:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(files), frozenset(folders)


def _paths(model: OpsModel) -> tuple[frozenset[str], frozenset[str]]:
    project = model.project
    problems = (problem.path for problem in project.problems)
    return _known_paths((*project.files, *project.yaml_files, *project.documents, *project.passed_over, *problems))


def _in_fence(model: OpsModel, document: Document, fence: Fence) -> Iterator[Absence]:
    """Imports and strings with a ``module:attribute`` in a block of Python."""
    if fence.language not in ("python", "py", ""):
        return
    makes = makes_something(fence)
    content = "\n".join(fence.lines)
    entry = re.compile(rf"""["']({re.escape(model.package)}(?:\.\w+)+):(\w+)["']""")
    asked = [(found.start(1), found[1], found[2]) for found in entry.finditer(content)]
    for found in _IMPORT.finditer(content):
        if found[1].startswith(f"{model.package}.") or found[1] == model.package:
            names = re.sub(r"#[^\n]*|[()\\]", " ", found[2]).split(",")
            asked += [(found.start(1), found[1], name.split()[0]) for name in names if name.split()]
    for at, module, name in sorted(asked):
        if _PLACEHOLDER.search(f"{module}.{name}") or not name.isidentifier():
            continue
        if re.search(rf"\b(?:class|def)\s+{name}\b", content):
            continue
        absent = _absent_attribute(model, module, name, makes)
        if absent is not None:
            line_start = content.rfind("\n", 0, at) + 1
            line = fence.line + content.count("\n", 0, at)
            yield absent._replace(place=Place(document.path, line, at - line_start + 1))
