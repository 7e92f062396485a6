"""Edges as plans state them outside `depends_on`: in keys of the plan, in numbers of its tasks, as arrows in text.

Each form is read exactly or not at all. Imports nothing of the plan; start reading at stated.py.
"""
