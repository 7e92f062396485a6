"""How a run's events reach the disk, and how they are exported.

`journal` combines the parts: each run has a `log`, all logs share the process's `writer`, which commits to the store
that `open_store` opened. `summary` updates a run's line in lists. `trace_file` reads and writes exported traces.

May import `stores` and `capture`. Start with `journal.py`, then `writer.py`.
"""
