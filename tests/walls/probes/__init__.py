"""The attacks, one module for each theme; modules are discovered automatically."""
