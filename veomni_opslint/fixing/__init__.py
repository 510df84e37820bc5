"""Changing files: applying the fixes of rules, and adding suppressions. Imported only when that is asked for."""
