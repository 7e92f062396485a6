"""Runs a plan's graph: from the first ready task to the last outcome.

`schedule` starts each task when its dependencies are done, with `growth` for tasks that go on in others; an `attempt`
has a time limit and ends with an outcome; `finished` is the port through which tasks are found that were finished
before. `condition` says whether a task is needed, `expand` makes a task for each item of a list, `rounds` the next
round of a task that is repeated.

May import `results` and the wings below it; does not know `model_loop`: what a task does is a callable. Start with
`schedule.py`.
"""
