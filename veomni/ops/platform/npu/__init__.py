"""Patches for Ascend NPUs."""
