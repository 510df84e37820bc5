"""Sizes that no model can have are refused where they are given, and not by a kernel in the first step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def check_sizes(
    config: Any,
    *,
    multiples: Mapping[str, str | int] | None = None,
    at_most: Mapping[str, str] | None = None,
    may_be_zero: str = "",
) -> None:
    """Check the numbers of *config*, which must be positive.

    Each key of *multiples* must be a multiple of its value, a number or the name of a size; each key of *at_most* must
    not be greater than the size that its value names.

    Raises:
        ValueError: a number is out of range.
    """
    for item in fields(config):
        value = getattr(config, item.name)
        if isinstance(value, int | float) and not (0 < value < math.inf or (value == 0 and item.name == may_be_zero)):
            raise ValueError(f"{item.name} must be positive, not {value}")
    for name, of in (multiples or {}).items():
        size = getattr(config, of) if isinstance(of, str) else of
        if getattr(config, name) % size:
            what = f"{of}={size}" if isinstance(of, str) else size
            raise ValueError(f"{name}={getattr(config, name)} must be a multiple of {what}")
    for name, limit in (at_most or {}).items():
        if getattr(config, name) > getattr(config, limit):
            raise ValueError(f"{name}={getattr(config, name)} must not exceed {limit}={getattr(config, limit)}")
