"""Skills and tools: what they are, where they are found, how they are chosen, run and checked.

errors, skill, switches, user_folders, text/   the ground; imports nothing of goalwright
confinement/            the walls around a tool's process
format/, tools/         SKILL.md and YAML as values; what a tool is
programs/               tools that run as processes, declared in a `skill.yaml`
discovery/, functions/  the skills of a workspace; the tools of installed packages
selection/, builtin/, manage/, check/   choose, offer, install and review them
library/, templates/    data: the bundled skills, and what `goalwright skills new` writes

Each line imports only those above it, and nothing here imports `planner`, `executor` or `goalwright`. Start reading with
`skill.py`, then `format/frontmatter.py` and `discovery/registry.py`.
"""
