"""Whether a module or an attribute of the project exists, for names that are written somewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from veomni_opslint.conditions import TRUE, Condition, atoms, possible
from veomni_opslint.discovery import Project
from veomni_opslint.facts import Binding
from veomni_opslint.model.project_modules import module_name
from veomni_opslint.model.symbols import Symbols

_OF_EVERY_MODULE = frozenset(
    ("__name__", "__file__", "__doc__", "__path__", "__spec__", "__loader__", "__package__", "__dict__", "__builtins__")
)
_BUILT = re.compile(r"_?_?(version|build_info|git_version|commit)(_?_)?|.*_pb2(_grpc)?|_C|_?cuda_ext.*")
"""Modules that a build writes, so that they need not be in the source tree."""
_OPEN = re.compile(
    r"\bglobals\(\)(?!\s*(?:\[[^]\n]*\](?!\s*=[^=])|\.get\())|\bexec\(|\bvars\(\)|\bsetattr\(\s*sys\.modules|"
    r"\bsys\.modules\[__name__\]|\b__dict__\b"
)
"""Code by which a module may get names that no statement binds."""
_GIVEN_MODULE = re.compile(r"""\bsys\.modules(?:\[|,\s*|\.setdefault\(\s*)\s*["']([\w.]+)["']""")
_COMPUTED_MODULE = re.compile(r"""\bsys\.modules(?:\[\s*[^"'\]\s][^\]]*\]\s*=[^=]|,\s*\w+\s*,)""")
_MAX_STARS = 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Presence:
    """Answers True, False, or None where it cannot be known.

    Of the top-level names only those are judged that stand for the project beyond doubt: the package under check,
    packages beside it, and folders of scripts from which something is imported elsewhere; never the standard library
    and ``foreign``, the names of known packages, of which a tree may hold a copy.
    """

    symbols: Symbols
    project: Project
    foreign: frozenset[str] = frozenset()
    _elsewhere: list[frozenset[str]] = field(default_factory=list, repr=False)
    _known: dict[tuple[str, str], bool | None] = field(default_factory=dict, repr=False)
    _roots: dict[str, bool] = field(default_factory=dict, repr=False)

    def is_judged(self, dotted: str) -> bool:
        """Whether a name, by its first part, is one of the project and of nothing else."""
        root = dotted.partition(".")[0]
        if root not in self._roots:
            self._roots[root] = root == self.project.package or (
                root in self.symbols.packages
                and root not in self.foreign
                and root not in sys.stdlib_module_names
                and (root in self.symbols.modules or self._is_imported_from(root))
            )
        return self._roots[root]

    def module(self, dotted: str) -> bool | None:
        """Whether there is a module or package of this name."""
        symbols = self.symbols
        if dotted in symbols.modules or dotted in symbols.packages:
            return True
        if not self.is_judged(dotted) or self._is_passed_over(dotted) or self._is_put_in(dotted):
            return None
        parent, _, name = dotted.rpartition(".")
        while parent not in symbols.modules and parent not in symbols.packages and parent:
            parent, _, name = parent.rpartition(".")
        if not parent or (parent in symbols.packages and _BUILT.fullmatch(name)):
            return None
        facts = symbols.modules.get(parent)
        if facts is not None and (facts.problem is not None or "__path__" in facts.text or "meta_path" in facts.text):
            return None
        return False

    def attribute(self, module: str, name: str) -> bool | None:
        """Whether ``from module import name`` finds something, in a module that exists."""
        key = (module, name)
        if key not in self._known:
            self._known[key] = self._attribute(module, name, 0)
        return self._known[key]

    def names_of(self, module: str) -> Iterator[str]:
        """Names that a module is known to have, for suggestions."""
        if module in self.symbols.modules:
            yield from self.symbols.bindings(module)
        prefix = f"{module}."
        yield from (one.removeprefix(prefix) for one in self.symbols.modules if one.startswith(prefix))

    def _attribute(self, module: str, name: str, depth: int) -> bool | None:
        symbols = self.symbols
        facts = symbols.modules.get(module)
        if facts is not None and (
            name in _OF_EVERY_MODULE or any(self._binds(module, one) for one in symbols.bindings(module).get(name, ()))
        ):
            return True
        inner = self.module(f"{module}.{name}")
        if inner is not False or facts is None:
            return inner
        if facts.problem is not None or depth > _MAX_STARS:
            return None
        for star in symbols.star_sources(module):
            found = None
            if star in symbols.modules and star != module:
                found = self._attribute(star, name, depth + 1)
            if found is not False:
                return found
        if "__getattr__" in symbols.bindings(module) or _OPEN.search(facts.text):
            return None
        if re.search(rf"\bglobal\s+[^\n]*\b{re.escape(name)}\b", facts.text) or self._is_set_outside(module, name):
            return None
        return False

    def _binds(self, module: str, binding: Binding) -> bool:
        """Whether a binding can give the module the name: not one for type checkers, not ``from . import`` the name."""
        facts = self.symbols.modules[module]
        if is_for_type_checkers(binding.when):
            return False
        if binding.kind != "import":
            return True
        imported = facts.imports[binding.import_index]
        from_itself = imported.how == "from" and self.symbols.absolute(module, imported) == module
        return not from_itself or binding.imported != binding.name

    def _is_imported_from(self, root: str) -> bool:
        """Whether an import elsewhere finds all that it asks for below a folder without ``__init__``."""
        self._roots[root] = False
        return any(
            imported.module in self.symbols.modules
            and all(self._attribute(imported.module, one.name, 0) for one in imported.names if one.name != "*")
            for facts in self.symbols.modules.values()
            for imported in facts.imports
            if not imported.level and imported.module.startswith(f"{root}.")
        )

    def _is_passed_over(self, dotted: str) -> bool:
        if not self._elsewhere:
            source_root = self.project.package_path.rpartition("/")[0]
            paths = [*self.project.passed_over, *(problem.path for problem in self.project.problems)]
            names = (module_name(_without_suffix(path), source_root)[0] for path in paths)
            given = (name for text in self._users_of_sys_modules() for name in _GIVEN_MODULE.findall(text))
            self._elsewhere.append(frozenset((*names, *given)))
        while dotted:
            if dotted in self._elsewhere[0]:
                return True
            dotted = dotted.rpartition(".")[0]
        return False

    def _is_put_in(self, dotted: str) -> bool:
        """Whether some code puts modules under computed names, this one perhaps, into ``sys.modules``."""
        words = set(dotted.split("."))
        return any(
            _COMPUTED_MODULE.search(text) and words <= set(re.findall(r"\w+", text))
            for text in self._users_of_sys_modules()
        )

    def _users_of_sys_modules(self) -> tuple[str, ...]:
        return tuple(self.symbols.modules[module].text for module in self.symbols.mentioning("sys.modules"))

    def _is_set_outside(self, module: str, name: str) -> bool:
        last = module.rpartition(".")[2]
        assigned = re.compile(rf"\.{re.escape(name)}[ \t]*(?::[^=\n]+)?=(?!=)")
        by_name = re.compile(rf"""\bsetattr\(\s*([\w.]+)\s*,\s*["']{re.escape(name)}["']""")
        for other, facts in self.symbols.modules.items():
            text = facts.text
            if name not in text:
                continue
            owners = []
            if f".{name}" in text:
                owners = [_name_before(text, one.start()) for one in assigned.finditer(text)]
            if other in self.symbols.mentioning("setattr(") and (f'"{name}"' in text or f"'{name}'" in text):
                owners += by_name.findall(text)
            for owner in owners:
                if owner.rpartition(".")[2] == last:
                    return True
                if any(one.kind == "module" and one.module == module for one in self.symbols.resolve(other, 0, owner)):
                    return True
        return False


def _name_before(text: str, end: int) -> str:
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] in "_."):
        start -= 1
    return text[start:end]


@lru_cache(maxsize=4096)
def is_for_type_checkers(condition: Condition) -> bool:
    """Whether a condition holds for type checkers only."""
    asks = condition != TRUE and any(_is_type_checking(atom) for atom in atoms(condition))
    return asks and not possible(condition, lambda atom: False if _is_type_checking(atom) else None)


def asks_first(condition: Condition, dotted: str, names: tuple[str, ...]) -> bool:
    """Whether a condition looks whether the module or one of the names is there."""
    stack = [condition]
    while stack:
        current = stack.pop()
        if current[0] in ("and", "or", "not"):
            stack.extend(current[1:])
        elif current[0] == "available":
            if dotted == current[1] or dotted.startswith(f"{current[1]}."):
                return True
        elif current[0] == "call" and any(one == dotted or one in names for one in current[2] if isinstance(one, str)):
            return True
    return False


def _is_type_checking(atom: Condition) -> bool:
    return bool(atom[0] == "name" and str(atom[1]).rpartition(".")[2] == "TYPE_CHECKING")


def _without_suffix(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0]}"
