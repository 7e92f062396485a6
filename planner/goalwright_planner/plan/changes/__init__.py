"""How a plan changes while it runs: what may change, changes that a model writes, and the tasks of sub-goals.

Imports the plan and its validation. Start reading at change.py.
"""
