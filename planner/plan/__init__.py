"""What a plan is, and whether one is valid; no model is asked here.

A model's text becomes JSON (`json_answer`), then a full plan document (`shape`, `schema`), is checked for every fault
at once (`validate`), and becomes a `Plan` with its graph (`plan`).

May import `skills`, no other wing of `planner`. Start with `plan.py`.
"""
