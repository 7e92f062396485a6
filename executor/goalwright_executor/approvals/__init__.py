"""Asks a person before tool calls, tasks and plans, and lets tasks wait for the answers.

policy.py       decides which tool calls run, which ask first and which are denied
record.py       the requests and answers of a run, folded from its events
approvals.py    asks, finds recorded answers, and lets a call or a task continue
call_person.py  the person that a tool asks in the middle of a call
waiting.py      a waiting task gives its slot up; parallel calls ask in the order of their reply

Imported by `results`, `scheduling` and `model_loop`; may import `capture`. Start with `approvals.py`.
"""
