"""Runs read back from their record.

`ledger` computes a run's state from its events, and the `result` from that; `run_history` adds all finished work, for
resuming; `replay` plays a recorded run back against today's skills and prompts, and `difference` puts what differs
into words.

The top wing of `executor`: may import all others. Start with `ledger.py`.
"""
