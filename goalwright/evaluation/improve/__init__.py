"""Edits of a skill behind gates: a model proposes one, and it counts only if cases that it never saw get better.

improve.py     improve_skill: rounds of proposals, until one passes every gate
split.py       working and held-out cases
edit.py        one bounded edit; proposal.py asks a model for it
gates.py       the gates that cost nothing, and those that run cases
"""
