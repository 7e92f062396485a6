"""The steps of a run, each over its `RunContext`; `goalwright/runs/pipeline.py` calls them in order.

`selecting` selects the skills for the goal. `planning` makes the plan. `running` owns the schedule of the tasks, with
their tools from `task_tools`; `streaming` adds tasks while the plan is being written, and `sub_goals` plans tasks that
are goals. `replanning` has a model change the plan at rest, from the states of its tasks (`task_states`). `answering`
ends the run.

May import what `goalwright.runs` may, but not `pipeline`, `run` and `runtime`. Start with `planning.py`.
"""
