"""Finding the skills of a workspace: which files there are, what they say, and which of one name is used.

May import programs, format, tools and the ground below; never selection, manage or check. Start with `registry`.

    locations   where skills are looked for, strongest first
    scan        the bounded walk that finds SKILL.md and skill.yaml files
    readers     a reader for each of the two: `skill_file` and `tool_file`, both giving an `entry`
    precedence  which skill of a name is active, and why the others are not
    index       the last scan, cached on disk; `file_stamp` says whether it still holds
    registry    all of this behind one class: list, get and load skills
    listing     `<available_skills>`, as a model sees it
"""
