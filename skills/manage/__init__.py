"""manage."""
