"""Commands that run a goal: `run`, `plan`, `resume` and `rerun`. Start reading at `run.py`."""
