"""What a plan is, and whether one is valid; no model is asked here.

A `Plan` has tasks (`task`) and their graph. `validate` finds every fault of a plan document at once, with the faults of
single tasks from `task_problems`. `references`, `conditions` and `fan_out` are how tasks use the results of others,
`change` is how a plan changes while it runs.

Start with `plan.py`.
"""
