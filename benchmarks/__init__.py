"""Measurements of opslint beside its peers; run by hand, not part of the wheel."""
