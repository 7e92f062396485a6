"""Writing files: `WriteFile` and `EditFile`, into a run's artifacts and, if allowed, into the workspace.

write_file.py, edit_file.py   the tools (start reading here); `function_write` does the same for functions
file_write.py    one call: what it writes, and where
write_place.py   where a task writes; `workspace_writes` is whether the workspace may be changed
targets.py       where a path leads, and what is refused
claims.py        which task wrote which file: two tasks that are not in order must not write the same one
changes.py       changes of the workspace: proposed with a diff, applied if nothing moved meanwhile, undone
patch.py         differences as `git apply` reads them
"""
