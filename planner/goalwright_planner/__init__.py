"""From a goal to a valid plan: the model port, the prompts, and the plan itself.

- `model`, `errors`, `events/`, `rules`: the vocabulary that everything above this package shares
- `plan/`: what a plan is, and whether one is valid
- `reading/`: from a model's answer or a file to a plan
- `prompting/`: templates, profiles, and which model fills which role
- `decompose/`: asks a model for a plan until there is a valid one

May import `skills`, nothing above it. Start with `decompose/decompose.py`.
"""
