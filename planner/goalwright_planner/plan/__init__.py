"""What a plan is, and whether one is valid; no model is asked here.

A model's text becomes JSON (`json_answer`), then a full plan document (`shape`, `schema`), is checked for every fault
at once (`validate`), and becomes a `Plan` with its graph (`plan`). `references`, `conditions` and `fan_out` are what
tasks say about the results of others, `forms` what they ask of their own, `changes` how
a plan changes while it runs.

May import `skills`, no other wing of `planner`. Start with `plan.py`.
"""
