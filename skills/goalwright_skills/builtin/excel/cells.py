"""Parses and validates cells, ranges and tables of a worksheet. No I/O."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from goalwright_skills.tools.tool import ToolFault

ROWS_LIMIT = 1_000
COLUMNS_LIMIT = 100
LAST_ROW, LAST_COLUMN = 1_048_576, 16_384  # Excel's limits
TEXT_LIMIT = 32_767
INTEGER_LIMIT = 10**15  # Excel keeps 15 digits
PARTS = "read it in parts of 1,000 rows × 100 columns, such as A1:D20"
CELL = re.compile(r"\$?(?P<column>[A-Za-z]{1,3})\$?(?P<row>[1-9][0-9]{0,6})")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells; rows and columns are numbered from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def bounds(self) -> dict[str, int]:
        """The area as arguments of openpyxl."""
        return {"min_row": self.top, "max_row": self.bottom, "min_col": self.left, "max_col": self.right}


def cell(name: str) -> tuple[int, int] | None:
    """Return the row and column of a cell such as B2; None if the name is invalid."""
    match = CELL.fullmatch(name.strip())
    if match is None:
        return None
    column = 0
    for letter in match["column"].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    row = int(match["row"])
    return (row, column) if row <= LAST_ROW and column <= LAST_COLUMN else None


def area(text: str) -> tuple[str, Area | None]:
    """Return the sheet and area of a range such as A1:D20 or Sales!A1:D20; the area is None if no cells are named."""
    sheet, _, cells = text.strip().rpartition("!")
    if not cells:
        return sheet.strip("'"), None
    first, colon, last = cells.partition(":")
    start, end = cell(first), cell(last if colon else first)
    if start is None or end is None:
        raise ToolFault("INVALID_PARAM", f"not a range: {text} — write it as FIRST:LAST, such as A1:D20")
    (top, left), (bottom, right) = map(min, zip(start, end, strict=True)), map(max, zip(start, end, strict=True))
    height, width = bottom - top + 1, right - left + 1
    if height > ROWS_LIMIT or width > COLUMNS_LIMIT:
        problem = f"range is too large: {height} rows × {width} columns"
        raise ToolFault("INVALID_PARAM", f"{problem} — {PARTS}")
    return sheet.strip("'"), Area(top, left, bottom, right)


def check_table(rows: list[Any], start: str) -> tuple[int, int]:
    """Return the row and column where a table starts; raises ToolFault if it is invalid, too large or does not fit."""
    if not rows or not all(isinstance(row, list) for row in rows):
        raise ToolFault("INVALID_PARAM", f"rows is not a list of lists: {str(rows)[:80]} — write it as [[…], […]]")
    height, width = len(rows), max(map(len, rows))
    if height > ROWS_LIMIT or width > COLUMNS_LIMIT:
        problem = f"table is too large: {height} rows × {width} columns"
        raise ToolFault("INVALID_PARAM", f"{problem} — write 1,000 × 100 at a time")
    for value in (value for row in rows for value in row):
        check_value(value)
    origin = cell(start)
    if origin is None:
        raise ToolFault("INVALID_PARAM", f"not a cell: {start} — write it as A1")
    if origin[0] + height - 1 > LAST_ROW or origin[1] + width - 1 > LAST_COLUMN:
        raise ToolFault("INVALID_PARAM", f"table leaves the sheet: it starts at {start} — start further up or left")
    return origin


def check_value(value: Any) -> None:
    """Raise ToolFault if a cell cannot hold this value."""
    if not isinstance(value, str | int | float | bool | None) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise ToolFault("INVALID_PARAM", f"not a cell value: {value} — use text, numbers, true, false or null")
    if isinstance(value, int) and abs(value) >= INTEGER_LIMIT:
        problem = f"{str(value)[:80]} has more than 15 digits, which Excel rounds"
        raise ToolFault("INVALID_PARAM", f"{problem} — give it as text")
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        problem = f"text is too long for a cell: {len(value)} characters"
        raise ToolFault("INVALID_PARAM", f"{problem} — shorten it, the limit is 32,767")
    if isinstance(value, str) and CONTROL.search(value):
        raise ToolFault("INVALID_PARAM", f"text contains control characters: {value[:80]!r} — remove them")
