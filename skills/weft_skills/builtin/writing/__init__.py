"""Writing files: `WriteFile` and `EditFile`, into a run's artifacts and, if allowed, into the workspace.

tools.py        the two tools (start reading here)
targets.py      where a path leads, and what is refused
claims.py       which task wrote which file: two tasks that are not in order must not write the same one
changes.py      changes of the workspace: proposed with a diff, applied if nothing moved meanwhile, undone
patch.py        differences as `git apply` reads them
"""
