"""Faults planted in a copy of a real tree: every one must be reported at its line, and nothing else may change."""
