"""Asks a model for a plan, or for a change of one, at most three times, each time with all faults of the last answer.

One call goes through `brief` (the request), `prompt`, `decompose` (the loop) and `judging`. `required` checks skills
that every plan must use, `streaming` reads a plan while it is written, and `replan` changes a plan.
"""
