"""Commands that read recorded runs: `replay`, and `trace` with one module for each subcommand.

group.py                           the group
list, show, diff, export,
import_runs, prune                 its subcommands
replay.py                          strict replay
reselection.py, playback.py        `replay --select`, and `replay` without --strict or --select
"""
