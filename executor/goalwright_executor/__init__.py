"""Runs a plan, and records every step so that a run can be resumed, replayed and reused.

- `capture/`: values as they are recorded: no secrets, portable paths, hashes
- `tasks/`: the scheduler, the tasks, and the synthesis of the answer
- `stores/`: where rows are kept: the store port, leases, SQLite
- `journal/`: how events get there: a log for each run, one writer for each process
- `history/`: runs read back: results, resume and replay

May import `planner` and `skills`, nothing above it. Start with `tasks/schedule.py`.
"""
