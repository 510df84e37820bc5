"""The evaluator: what module-level code registers, learned without importing it."""

from __future__ import annotations

from veomni_opslint.evaluate.interpreter import evaluate

__all__ = ["evaluate"]
