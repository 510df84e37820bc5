"""How long the stages of a run take."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds the time since the last lap to a stage; the first lap counts from when the watch was made."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """What was done since the last lap was *stage*."""
        now = time.perf_counter()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def stages(self) -> tuple[tuple[str, float], ...]:
        """The stages in the order of their first laps, with their seconds."""
        return tuple(self._seconds.items())
