"""Workbooks as tools of the entry-point group `weft.tools`: `sheet_tools` (start here), `workbook` and `cells`.

The docstrings of the functions in `sheet_tools` become the descriptions that a model sees, so they are frozen.
"""
