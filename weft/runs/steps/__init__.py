"""The steps of a run that have modules of their own: `selecting` skills, and changing the plan.

`reviewing` shows a plan to a person before it runs; `sub_goals` plans tasks that are goals; `replanning` has a model
change the plan at rest; `reopening` continues a run that is not running, with what a person gives it, such as an edited
plan; `following` takes over what an earlier run came to; `streaming` starts tasks while their plan is being written.

May import what `weft.runs` may; `weft/runs/pipeline.py` calls them in order.
"""
