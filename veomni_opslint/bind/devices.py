"""The device that a binding is asked for: ``gpu:90``, ``npu`` or ``cpu``."""

from __future__ import annotations

import re

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.model.binding import Device

_CAPABILITY = re.compile(r"[1-9][0-9]{1,2}")


def parse_device(text: str) -> Device:
    """The device that *text* names.

    Raises:
        RunError: it names none.
    """
    kind, _, capability = text.partition(":")
    if kind == "gpu" and _CAPABILITY.fullmatch(capability):
        return Device("gpu", int(capability))
    if text == "npu":
        return Device("npu")
    if text == "cpu":
        return Device("cpu")
    if kind == "gpu":
        hint = "; a GPU is named with its compute capability in two or three digits, as gpu:90 for 9.0"
    else:
        hint = did_you_mean(kind, ("gpu", "npu", "cpu"))
    raise RunError(f"--device {text}: is none of gpu:N, npu and cpu{hint}")
