"""The steps of a run, each over its `RunContext`; `goalwright/runs/pipeline.py` calls them in order.

`selecting` finds the skills for the goal, with `live_data` for what only the web has. `planning` makes the plan, and
`reviewing` shows it to a person. `running` owns the schedule of the tasks, with their tools from `task_tools`;
`streaming` feeds it while the plan is being written, if that is used, and `sub_goals` plans tasks that are goals.
`replanning` has a model change the plan at rest, by how its tasks stand (`task_states`). `answering` ends the run.

May import what `goalwright.runs` may, but not `pipeline`, `run` and `runtime`. Start with `planning.py`.
"""
