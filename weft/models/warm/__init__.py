"""A helper process that keeps litellm loaded between the runs of one person at one terminal.

Loading litellm takes seconds, and every run would pay for it. The helper loads it once, forks for each run that
connects, and ends after some idle minutes. It speaks JSON on a socket that only its user can open; each fork gets its
run's environment, keys included, and ends with that run, so nothing is kept.

- `place`: where its socket is, and who may use it
- `wire`: requests, replies and errors as JSON
- `server`: the process, and the fork that makes one run's calls
- `connection`, `model`: the other end; if the helper is lost, a run makes its calls itself

Not used in batches, in CI, or without a terminal. Start with `server.py`.
"""
