"""Workbooks as tools of the entry-point group `weft.tools`; start at `sheet_tools`.

The docstrings of the functions in `sheet_tools` become the descriptions that a model sees, so they are frozen.
"""
