"""A build that fails leaves the models built before it as they were."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ..ops.config import OpScope, list_ops, singleton
from ..ops.dispatch import OpsConfigSlot, OpSlot
from ..ops.kernels import moe


@contextmanager
def unchanged_on_failure(modeling: ModuleType | None) -> Iterator[None]:
    """Put configuration, pointers, and the slots and patches of *modeling* back if the body raises."""
    before = [(holder, dict(vars(holder))) for holder in _holders(modeling)]
    try:
        yield
    except BaseException:
        for holder, attributes in before:
            for name, value in attributes.items():
                if vars(holder)[name] is not value:
                    setattr(holder, name, value)
        raise


def _holders(modeling: ModuleType | None) -> Iterator[object]:
    """Everything that binding assigns attributes of."""
    yield singleton
    yield moe
    for op in list_ops(OpScope.GLOBAL):
        yield importlib.import_module((op.global_slot or "").partition(":")[0])
    if modeling is not None:
        yield modeling
        for value in vars(modeling).values():
            own_class = isinstance(value, type) and value.__module__ == modeling.__name__
            if own_class or isinstance(value, OpSlot | OpsConfigSlot):
                yield value
