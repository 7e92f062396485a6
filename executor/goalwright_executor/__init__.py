"""Runs a plan, and records every step so that a run can be resumed, replayed and reused.

- `capture/`: values as they are recorded: no secrets, portable paths, hashes
- `files/`, `approvals/`: files that the user gave; questions to a person
- `results/`: how tasks end, and how their results reach other tasks
- `model_loop/`, `scheduling/`: one task with its model and tools; the graph of tasks
- `stores/`: where rows are kept: the store port, leases, SQLite, PostgreSQL
- `journal/`: how events get there: a log for each run, one writer for each process
- `history/`: runs read back: results, resume and replay

May import `planner` and `skills`, nothing above it. Start with `scheduling/schedule.py`.
"""
