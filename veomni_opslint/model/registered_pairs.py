"""Which (op, variant) pairs the registry has, may have, and resembles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.registrations import KernelSpec


def may_be_registered(model: OpsModel, op_name: str, variant: str) -> bool:
    """Whether a registration whose content is not known could be the one of this pair.

    Where not even the op is known, it is taken to be one that its file names, or one that no other file registers.
    """
    registered = any(spec.op_name == op_name for spec in model.registrations.kernel_specs)
    for unresolved in model.registrations.unresolved:
        if unresolved.of_op or unresolved.variant not in (None, variant):
            continue
        if unresolved.op_name == op_name:
            return True
        if unresolved.op_name is None and (not registered or op_name in model.files[unresolved.place.path].text):
            return True
    return False


def specs_of(model: OpsModel, op_name: str) -> Iterator[KernelSpec]:
    """The first registration of each variant of an op."""
    seen: set[str] = set()
    for spec in model.registrations.kernel_specs:
        if spec.op_name == op_name and spec.variant not in seen:
            seen.add(spec.variant)
            yield spec


def nearest(word: str, known: Iterable[str]) -> str:
    """The word of *known* that *word* is probably meant to be, or an empty string."""
    return _nearest(word, tuple(known))


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    # difflib is slow to import, and only a fault needs it.
    from difflib import get_close_matches  # noqa: PLC0415

    folded = {name.strip().casefold(): name for name in known}
    matches = get_close_matches(word.strip().casefold(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else ""
