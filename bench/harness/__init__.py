"""What every benchmark uses: timing, results, peers in environments of their own, and the page that shows it all.

- `result`: what a benchmark is and what it found: tables, aims
- `timing`: rounds that take turns, elapsed and CPU time
- `graphs`: the task graphs that every scheduler runs
- `peers`: other projects, each in a cached virtual environment
- `model_server`: a provider in another process
- `command`: what `python -m bench` does; `text`, `page` and `plot` show it
"""
