"""Runs the graph of a plan, from the first ready task to the last outcome.

`schedule` starts each task when its dependencies have ended, `growth` limits the subtasks of one task, and `attempt`
gives each task a time limit and an outcome. `finished` is the port that finds tasks of earlier runs. `condition`
decides whether a task is needed, `expand` creates a task for each item of a list, and `rounds` repeats a task.

May import `results` and the wings below it, but not `model_loop`: the work of a task is a callable. Start with
`schedule.py`.
"""
