"""From a goal to a valid plan: the model port, the prompts, and the plan itself.

- `model`, `errors`, `approvals`, `events/`: the vocabulary of the planner and of everything above it
- `plan/`: the plan and its validation; `reading/`: from a model's answer to a plan
- `prompting/`: templates, profiles, and which model fills which role
- `small_models/`: plans by rule, and everything else that only small models need
- `decompose/`: asks a model for a plan until it is valid

May import `skills`, nothing above it. Start with `decompose/decompose.py`.
"""
