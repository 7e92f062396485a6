"""Shared code of the benchmarks.

- `result`: benchmarks and their results: tables and aims
- `timing`: alternating rounds, elapsed and CPU time
- `graphs`: the task graphs that every scheduler runs
- `peers`: other projects, each in a cached virtual environment
- `model_server`: a fake provider in a child process
- `command`: the command line; `text`, `page` and `plot` render results
"""
