"""Loggers that say things once per job and not once per rank."""

from __future__ import annotations

import logging
import os


class _RankZeroFilter(logging.Filter):
    """Drops what is below WARNING on every rank but the first."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or os.environ.get("RANK", "0") == "0"


def get_logger(name: str) -> logging.Logger:
    """Return the logger *name*; its INFO and DEBUG records are emitted on rank 0 only."""
    logger = logging.getLogger(name)
    if not any(isinstance(item, _RankZeroFilter) for item in logger.filters):
        logger.addFilter(_RankZeroFilter())
    return logger
