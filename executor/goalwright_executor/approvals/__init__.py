"""What a run asks a person: which calls need it, what was asked and answered, and how a task waits meanwhile.

policy.py     which tool calls run, which ask first, which are denied
record.py     the requests and answers of a run, from its events
approvals.py  asks, takes answers from the record, and lets a call or a task go on
task_slot.py  a task that waits holds no slot among those that run
turns.py      calls that are made at once ask in the order of their reply

Imported by `tasks`; may import `capture`. Start with `approvals.py`.
"""
