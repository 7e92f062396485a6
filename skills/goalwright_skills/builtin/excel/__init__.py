"""Workbooks as tools of the entry-point group `goalwright.tools`; start at `sheet_tools`.

The docstrings of the functions there become the descriptions that a model sees.
"""
