"""Plans as files: written, edited by a person, also while a run of theirs is not running, read back, and checked."""
