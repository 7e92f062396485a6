"""Asks a model for a plan, at most three times, each time with all faults of the answer before.

The top wing of `planner`: may import all others. Everything is in `decompose.py`.
"""
