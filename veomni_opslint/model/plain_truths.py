"""What is true wherever the project is imported, and what is not where one optional package is absent."""

from __future__ import annotations

from veomni_opslint.conditions import Condition

_AVAILABILITY_WORDS = ("avail", "has_", "have_", "is_", "use_", "can_", "support", "installed", "enabled")
_MAIN = ("cmp", "Eq", ("name", "__name__"), ("const", "__main__"))
_DEBUG = ("name", "__debug__")
_VERSION = ("name", "sys.version_info")
_PLATFORM = {_VERSION: "", ("name", "sys.platform"): "linux", ("name", "os.name"): "posix"}
_OLDEST = (3, 11)


def plain_truth(atom: Condition, package: str, others: bool | None) -> bool | None:
    """The truth of an atom where *package* is not installed and *others* (None: who knows) are."""
    kind = atom[0]
    if kind == "available":
        return False if atom[1] == package else others
    if kind == "completes" or atom == _DEBUG:
        return True
    if atom == _MAIN:
        return False
    if kind == "cmp" and atom[2] in _PLATFORM:
        return _on_platform(atom)
    if kind in ("name", "call"):
        last = str(atom[1]).rpartition(".")[2]
        if last == "TYPE_CHECKING":
            return False
        if package and _is_availability_of(last, atom, package):
            return False
    return None


def _on_platform(atom: Condition) -> bool | None:
    """A comparison with what is the same wherever the project runs: Linux, and Python 3.11 or newer."""
    _, operator, left, right = atom
    given = right[1] if right[0] == "const" else None
    if left == _VERSION:
        if not isinstance(given, tuple) or not given[:2] or not all(isinstance(one, int) for one in given[:2]):
            return None
        return {"GtE": True, "Gt": True, "Lt": False, "LtE": False}.get(operator) if given[:2] <= _OLDEST else None
    return given == _PLATFORM[left] if operator == "Eq" and isinstance(given, str) else None


def _is_availability_of(name: str, atom: Condition, package: str) -> bool:
    if atom[0] == "call" and atom[2] and atom[2][0] == package:
        return True
    lowered = name.lower()
    token = package.partition("_")[0] if len(package.partition("_")[0]) > 3 else package
    return token in lowered and any(word in lowered for word in _AVAILABILITY_WORDS)
