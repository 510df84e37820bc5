"""The gate: which findings are old and accepted, so that only new ones count."""
