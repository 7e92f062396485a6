"""What a plan is, and whether one is valid; no model is asked here.

A `Plan` has tasks and their graph (`plan`, `task`); `validate` finds every fault of a plan document at once.
`references`, `conditions` and `fan_out` are how tasks use the results of others, `forms` what tasks ask of their own
results, `changes` how a plan changes while it runs.

Start with `plan.py`.
"""
