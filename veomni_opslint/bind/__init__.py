"""``opslint bind``: which kernel each slot of each model would get for a configuration on a device, or why none."""

from __future__ import annotations
