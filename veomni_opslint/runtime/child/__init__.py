"""What runs in the interpreter of the program, beside its packages: it imports nothing but the standard library."""

from __future__ import annotations
