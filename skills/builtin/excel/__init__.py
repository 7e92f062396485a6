"""excel."""
