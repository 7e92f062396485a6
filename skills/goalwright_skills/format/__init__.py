"""Parses SKILL.md and YAML text; no file is read here.

frontmatter   a SKILL.md as a value, with every problem in it (start reading here)
plain_yaml, safe_yaml, lenient_yaml   the three readers of frontmatter, cheapest first
yaml_lines    other YAML files, with the line of every value
documents     JSON and TOML with bounded nesting

May import the modules at the root of `skills` and `text`.
"""
