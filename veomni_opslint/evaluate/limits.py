"""How much work the evaluator does before it gives up, and the exceptions that say how it left off."""

from __future__ import annotations

MAX_STEPS = 200_000
"""Expressions and statements evaluated for one module."""
MAX_ITEMS = 20_000
"""Elements of one container."""
MAX_TEXT = 200_000
"""Characters of one string."""
MAX_BITS = 4_096
"""Bits of one integer."""
MAX_NESTING = 220
"""Expressions and blocks within each other, calls included."""
MAX_CALLS = 40
"""Calls of project functions within each other."""
MAX_OPTIONS = 16
"""Alternatives of one value, or combinations of alternatives."""
MAX_PATH = 20
"""Unknown conditions within each other."""
RECURSION_LIMIT = 12_000
"""Python frames while evaluating; MAX_NESTING is reached long before."""

TOO_MANY = "depends on too many conditions"
"""The reason of what exceeds MAX_OPTIONS or MAX_PATH."""


class GivenUp(Exception):  # noqa: N818 - it tells of the code evaluated, not of a fault here
    """The rest of the module is not followed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooDeep(Exception):  # noqa: N818 - it tells of the code evaluated, not of a fault here
    """The module-level statement is not followed; the rest of the module is."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Raised(Exception):  # noqa: N818 - it tells of the code evaluated, not of a fault here
    """The code under evaluation raises here; ``error`` is the name of a built-in exception, or empty if unknown."""

    def __init__(self, error: str, reason: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.reason = reason or f"raises {error or 'an exception'}"


class NotPlain(Exception):  # noqa: N818 - it tells of the code evaluated, not of a fault here
    """An operation that needs known values met one that is not; ``reason`` continues a sentence about the result."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
