"""`goalwright skills …`: one module for each command, imported when the command is used.

Start with `group`, which lists them all. `open_workspace` has what they share: a workspace's skills and tools, opened
with the settings in force. The work itself is done in `goalwright_skills.manage`, `goalwright_skills.check` and `goalwright.workspace`.
"""
