"""Everything that only small models need: plans made by rule, and goals, plans and skills cut to their size.

- `rules`: plans that need no model; `completion`: puts back what a model's plan lost of the goal
- `parts`: divides a goal by its own words, with `clauses`, `objects`, `references` and `languages`
- `coverage`: which words of a goal a plan lacks; `material`: data that a goal brings along
- `skill_digest`: a skill's instructions, cut to a length
"""
