"""Runs that the journal has: found, claimed, continued, followed up, and run again in part.

`records` is between a run and its record: where the journal is, how a goal is recorded, and how it is read back.
`reopening` says with what a stored run continues, `claim` keeps other processes from doing so too, and `restoring`
brings back its files. `requests` are what runs wait for, with a person's answers to them. `rerun` splits a run into
what is reused and what is executed, `follow_up` says what a new run takes over, and `kept_results` finds results of
other runs.

May import `goalwright/runs/goal.py`, `plans` and what `goalwright.runs` may. Start with `records.py`.
"""
