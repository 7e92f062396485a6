"""Texts as vectors by a small static table, so that a goal finds a skill that says it in other words."""

from goalwright_skills.selection.encoder.table import Table

__all__ = ["Table"]
