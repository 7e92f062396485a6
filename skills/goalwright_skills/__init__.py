"""Skills and tools: their types, discovery, selection, execution and checks.

errors, skill, switches, user_folders, text/   the foundation; imports nothing else of goalwright
confinement/            the confinement of a tool's process
format/, tools/         parses SKILL.md and YAML; the interface of a tool
programs/               tools that run as processes, declared in a `skill.yaml`
discovery/, functions/  the skills of a workspace; the tools of installed packages
selection/, builtin/, manage/, check/   choose, offer, install and review them
library/, templates/    data: the bundled skills and the templates of `goalwright skills new`

Each line imports only the lines above it, and nothing here imports `planner`, `executor` or `goalwright`. Start with
`skill.py`, then `format/frontmatter.py` and `discovery/registry.py`.
"""
