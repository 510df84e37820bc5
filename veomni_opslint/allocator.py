"""What the C library does with memory that a syntax tree gives back."""

from __future__ import annotations

import sys

# The numbers of malloc.h, and what glibc takes at most for the second.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGEST_FROM_HEAP = 1 << 30, 32 << 20


def keep_freed_memory() -> None:
    """Let the tree of one file use the memory of the one before it; for a process that ends after its run.

    Without this glibc returns the memory after each file and asks for it again, which costs two page faults of three
    and a tenth of the time of a run. Where the C library is another one, nothing is done.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - this module is imported where nothing else needs it

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _LARGEST_FROM_HEAP)
