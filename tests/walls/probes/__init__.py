"""The attacks, one module for each theme; a new module is found by itself."""
