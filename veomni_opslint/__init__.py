"""opslint: a static linter for VeOmni's ops architecture."""

__version__ = "0.1.0"
