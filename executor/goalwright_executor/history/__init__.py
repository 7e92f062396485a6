"""Runs read back from their events.

`ledger` computes a run's state and `result` from its events, `folds` its inputs, plans and calls; `run_history` adds
all finished work, for resuming. `replay` runs a recorded run from its `tape`, and `difference` describes the drift.
`indexer` and `snippets` serve search. The top wing of `executor`: may import all others. Start with `ledger.py`.
"""
