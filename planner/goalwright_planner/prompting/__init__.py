"""Prompts from the templates of `seed/` and users' own, and profiles of kinds of models.

`models` is the port through which the planner and the executor get a model for a role. Start with `prompts.py`.
"""
