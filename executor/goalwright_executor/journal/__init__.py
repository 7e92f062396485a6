"""How a run's events reach the disk, and how they leave it as files.

`journal` puts it together: each run has a `log`, the logs share the process's `writer`, which commits to the store that
`open_store` opened. `summary` keeps a run's line in the list of runs. `trace_file`
reads and writes exported traces.

May import `stores` and `capture`. Start with `journal.py`, then `writer.py`.
"""
