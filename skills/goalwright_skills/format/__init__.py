"""SKILL.md and YAML text as values: pure functions, no files.

frontmatter   a SKILL.md as a value, with every problem in it (start reading here)
plain_yaml, safe_yaml, lenient_yaml   its frontmatter, read by the cheapest of the three that is right
scalars       what unquoted scalars mean, and the values and errors that the three share
yaml_lines    other YAML files, with the line of every value
names         what a skill may be called

May import the modules at the root of `skills` and `text`.
"""
