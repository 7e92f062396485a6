"""The steps of a run that have modules of their own: `selecting` skills.

May import what `weft.runs` may; `weft/runs/pipeline.py` calls them in order.
"""
