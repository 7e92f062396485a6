"""Runs a plan's tasks: from the first ready task to the answer.

`schedule` starts each task when its dependencies are done; `runner` runs one task, with its `inputs`; `conversation`
talks to the model and calls tools; `synthesis` writes the answer. `memo` finds work that was finished before,
`artifacts` keeps texts that are too long for a prompt.

May import `capture`; records events through a callable and knows no journal. Start with `schedule.py`.
"""
