"""Workbooks as tools of the entry-point group `weft.tools`: `tools` (start here), `workbook` (files), `cells` (ranges).

The docstrings of the functions in `tools` become the descriptions that a model sees, so they are frozen.
"""
