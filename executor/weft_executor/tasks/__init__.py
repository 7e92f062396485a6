"""Runs a plan's tasks: from the first ready task to the answer.

`schedule` starts each task when its dependencies are done, with `growth` for tasks that go on in others; an `attempt`
has a time limit and ends with an `outcome`. `condition` says whether a task is needed, `expand` makes a task for each
item of a list; `runner` runs one task, with its `inputs`; `conversation` talks to the model and calls tools;
`synthesis` writes the answer. `memo` finds work that was finished before (`finished` is its port), `artifacts` keeps
texts that are too long for a prompt.

May import `files` and `capture`; records events through a callable and knows no journal. Start with `schedule.py`.
"""
