"""Modeling files made by ``python -m veomni.patchgen``; never edited by hand."""
