"""Changing files: writing a run's artifacts and, if the user allows it, changing files of the workspace.

write_file.py, remove_file.py   the tools (start reading here); `function_write` does the same for functions
changing_tool.py   the base classes of these tools and of their calls
write_place.py     where a task may write, and which task wrote which file
targets.py         resolves and validates paths
changes.py         workspace changes: proposed with a diff, applied if the file is unchanged, undone
file_change.py     the record of one change
kept_aside.py      files that are too large to be copied
patch.py           diffs in the format of `git apply`
"""
