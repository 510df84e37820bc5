"""What a rule of your own imports; see docs/own_rules.md. These names stay."""

from __future__ import annotations

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Finding, Fix, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.registrations import KernelSpec, OpSpec, Unknown
from veomni_opslint.rule import Rule

__all__ = [
    "Dialect",
    "FileFacts",
    "Finding",
    "Fix",
    "KernelSpec",
    "OpSpec",
    "OpsModel",
    "Place",
    "Related",
    "Rule",
    "Severity",
    "Unknown",
]
