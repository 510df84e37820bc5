"""Models, and how they are built from a configuration."""
