"""Helpers about the machine: devices, optional packages, logging."""
