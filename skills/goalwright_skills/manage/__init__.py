"""Changing the skills of a workspace: adding, importing and deleting them, and writing new tools.

May import discovery, format, programs and the ground below; never selection, builtin or check. Start with `install`.

    install    add, import (stage, then commit) and delete skills
    edit       one file of a skill, read and written as text
    owned      which skills are the workspace's own
    archive    the files of a folder or archive, checked before anything is written
    suspicion  what to distrust in a skill from elsewhere
    new_tool   a working tool, written from `skills/goalwright_skills/templates/`
"""
