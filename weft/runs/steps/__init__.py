"""The steps of a run that have modules of their own: `selecting` skills, and changing the plan.

`replanning` has a model change it at rest; `reopening` continues a run that is not running, with what a person gives
it, such as an edited plan.

May import what `weft.runs` may; `weft/runs/pipeline.py` calls them in order.
"""
