"""Plans as files: written, edited by a person, read back, and checked with line numbers."""
