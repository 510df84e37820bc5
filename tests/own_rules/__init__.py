"""An example of rules of your own, which mypy checks."""
