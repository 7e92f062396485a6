"""The journal: every event of a run, safe on disk as it happens, and found again by what it is."""
