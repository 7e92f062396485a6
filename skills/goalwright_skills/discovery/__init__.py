"""Finds the skills of a workspace and decides which skill of each name is active.

locations   the folders to search, strongest first
scan        the bounded walk that finds SKILL.md and skill.yaml files
skill_file  reads the metadata of both kinds of files
precedence  decides which skill of a name is active, and why the others are not
index       caches the last scan on disk; `file_stamp` tells whether it is still valid
registry    lists, gets and loads skills (start reading here)
listing     renders `<available_skills>` for a model
needs       detects what a skill needs, such as web access

May import programs, format, tools and the modules below; never selection, manage or check.
"""
