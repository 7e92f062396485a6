"""Formulas that have no stored value: openpyxl computes none, and saves formulas without the values that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.builtin.excel import cells
from goalwright_skills.text.formatting import counted, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED_LIMIT = 10
WHOLE = cells.Area(1, 1, cells.ROWS_LIMIT, cells.COLUMNS_LIMIT)


def lost(book: Any) -> str:
    """What to say of a changed workbook's formulas; empty if it has none."""
    # not iter_rows(), which would create every empty cell in between
    count = sum(cell.data_type == "f" for table in book.worksheets for cell in table._cells.values())
    if not count:
        return ""
    has = plural(count, "has", "have")
    return f"{counted(count, 'formula')} {has} no stored value until a spreadsheet program saves the file"


def missing(table: Any, area: cells.Area) -> str:
    """What to say of an area's formulas without a stored value, with the first ones named; empty if there are none."""
    names: list[str] = []
    for name in _without_value(table, area):
        if len(names) == NAMED_LIMIT:
            names[-1] += " and more"
            break
        names.append(name)
    if not names:
        return ""
    return f"formulas without a stored value: {', '.join(names)} — save the file in a spreadsheet program, then read it"


def _without_value(table: Any, area: cells.Area) -> Iterator[str]:
    """The names of the cells, from the sheet's XML, because openpyxl gives either values or formulas."""
    from openpyxl.utils import get_column_letter
    from openpyxl.xml.constants import SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    row = 0
    with table._get_source() as source:
        for _, element in iterparse(source):
            if element.tag != f"{{{SHEET_MAIN_NS}}}row":
                continue
            row = int(float(element.get("r", row + 1)))
            if row > area.bottom:
                return
            column = 0
            for item in element if row >= area.top else ():
                _, column = cells.cell(item.get("r", "")) or (row, column + 1)
                if area.left <= column <= area.right and _is_unvalued(item, f"{{{SHEET_MAIN_NS}}}"):
                    yield f"{get_column_letter(column)}{row}"
            element.clear()


def _is_unvalued(item: Any, namespace: str) -> bool:
    """Whether a cell has a formula and no value; empty text is a value."""
    if item.find(f"{namespace}f") is None:
        return False
    value = item.find(f"{namespace}v")
    return value is None or (not value.text and item.get("t") != "str")
