"""The linked project: what all rules look at."""

from __future__ import annotations

from veomni_opslint.model.build import build_model
from veomni_opslint.model.ops_model import OpsModel

__all__ = ["OpsModel", "build_model"]
