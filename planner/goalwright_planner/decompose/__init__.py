"""Asks a model for a plan, at most three times, each time with all faults of the answer before.

For small models, `by_rule` plans without asking, and `completion` puts back what a plan lost of the goal.

The top wing of `planner`: may import all others. Start with `decompose.py`.
"""
