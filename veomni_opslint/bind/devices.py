"""The device that a binding is asked for: ``gpu:90``, ``npu`` or ``cpu``."""

from __future__ import annotations

import re

from veomni_opslint.errors import RunError, did_you_mean
from veomni_opslint.model.binding import Device

_CAPABILITY = re.compile(r"[1-9][0-9]{1,2}")
_CAPABILITY_MEANT = re.compile(r"(?:gpu|sm)[ :_-]?([1-9][0-9]?)\.?([0-9])", re.IGNORECASE)


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
    raise RunError(
        f"--device {text}: is none of gpu:N, npu and cpu; a GPU is named with its compute capability in two or three "
        f"digits, as gpu:90 for 9.0{_hint(text)}"
    )


def _hint(text: str) -> str:
    meant = _CAPABILITY_MEANT.fullmatch(text)
    if meant is not None:
        return f"; did you mean `gpu:{meant[1]}{meant[2]}`?"
    # What is nearest to `gpu` gets no hint: without a capability that is no device either.
    hint = did_you_mean(text, ("gpu", "npu", "cpu"))
    return "" if "`gpu`" in hint else hint
