"""What a goal asks for, by its own words: its parts, which of them build on others, and whether a plan has them all.

`parts` divides a goal, with the help of `clauses`, `enumerations`, `objects` and `references`; `coverage` compares
words; `material` tells what a goal brings along; `deliverables` says which results belong in the answer. The words
are in `seed/languages.yaml`.

May import `prompting` and all below. Start with `parts.py`.
"""
