"""Plans as pictures: lines for a terminal, Mermaid, Graphviz and SVG.

- `layers`: which tasks can run at the same time, and in which order they are drawn
- `terminal`, `mermaid`, `dot`, `svg`: a plan in each form; `forms` finds one by name

Pure functions from a plan to text. Titles and ids come from a model or a file: each form escapes them in its own way.
May import `planner` and `goalwright_skills.text`. Start with `layers.py`.
"""
