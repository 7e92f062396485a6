"""What is sent to a model: prompts from the templates of `seed/` and users' own, and profiles of kinds of models.

`models` is the port through which the planner and the executor get a model for a role. May import `plan`, `model` and
`errors`. Start with `prompts.py`.
"""
