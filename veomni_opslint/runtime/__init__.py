"""``opslint runtime``: what the registry of the program really is, and what resolves on this machine.

Nothing of the program runs in opslint's own process: ``child`` runs in the program's interpreter.
"""

from __future__ import annotations
