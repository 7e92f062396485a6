"""Recorded runs: claimed, continued, followed up, and partly run again.

`records` opens the journal, records goals and reads them back. `reopening` prepares a stored run to continue, `claim`
keeps other processes from doing the same, and `restoring` restores its files. `requests` lists what runs wait for and
matches answers. `rerun` divides a plan into reused and executed tasks, `follow_up` collects what a new run takes over,
and `kept_results` finds results of other runs.

May import `goalwright/runs/goal.py`, `plans` and what `goalwright.runs` may. Start with `records.py`.
"""
