"""Improves a skill: a model proposes an edit, which is accepted only if held-out cases get better.

improve.py  rounds of proposals, until one passes every gate
edit.py     a bounded edit, and asking a model for it
gates.py    the gates
"""
