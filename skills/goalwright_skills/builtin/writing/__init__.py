"""Changing files: writing into a run's artifacts and, if allowed, writing, moving and deleting in the workspace.

write_file.py, edit_file.py, delete_file.py, move_file.py   the tools (start reading here); `function_write` does the
                 same for functions; changing_tool.py is what they have in common
file_call.py     one call: which files it changes, and what keeps it from it; file_write.py, file_removal.py
write_place.py   where a task writes; `workspace_writes` is whether the workspace may be changed
targets.py       where a path leads, and what is refused
claims.py        which task wrote which file: two tasks that are not in order must not write the same one
changes.py       changes of the workspace: proposed with a diff, applied if nothing moved meanwhile, undone;
                 file_change.py has one of them
patch.py         differences as `git apply` reads them
"""
