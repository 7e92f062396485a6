"""Batches: thousands of goals from a file, one line of results for each."""
