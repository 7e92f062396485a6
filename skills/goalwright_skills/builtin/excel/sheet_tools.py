"""The excel tools: read a range, write a table, list the sheets. They need openpyxl (the extra `excel`)."""

from __future__ import annotations

import datetime
import re
from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - schemas are made from the signatures at run time
from typing import Any

from goalwright_skills.builtin.excel import cells, workbook
from goalwright_skills.tools.effects import changes_file
from goalwright_skills.tools.tool import ToolFault

if find_spec("openpyxl") is None:
    raise ImportError("it needs openpyxl: run `pip install 'goalwright[excel]'`")


def excel_read(workspace: Path, path: str, sheet: str = "", range: str = "") -> dict[str, Any]:  # noqa: A002
    """Read the cells of a worksheet as rows of values; files up to 20 MB, at most 1,000 rows and 100 columns.

    Args:
        path: Path of the workbook, relative to the workspace; .xlsx or .xlsm, 20 MB at most.
            Example: data/report.xlsx
        sheet: Name of the worksheet; by default the first one. Example: Sales
        range: Cells to read as FIRST:LAST, or SHEET!FIRST:LAST; by default all used cells, at most
            1,000 rows and 100 columns. Example: A1:D20
    """
    named, area = cells.area(range)
    if sheet and named and sheet != named:
        raise ToolFault("INVALID_PARAM", f"two different sheets: {sheet} and {named} — name the sheet in one place")
    with workbook.opened(workbook.inside(workspace, path), path) as book:
        table = workbook.sheet(book, sheet or named)
        if area is None:
            rows, warning = _whole(table), workbook.missing_values(table, workbook.WHOLE)
        else:
            part = table.iter_rows(**area.bounds, values_only=True)
            rows = [[_plain(value) for value in row] for row in part]
            warning = workbook.missing_values(table, area) if any(None in row for row in rows) else ""
        # the warning comes before the rows, which may be truncated
        return {"sheet": table.title, **({"warning": warning} if warning else {}), "rows": rows}


@changes_file("path")
def excel_write(
    workspace: Path,
    path: str,
    rows: list[Any],
    sheet: str = "Sheet1",
    start: str = "A1",
    overwrite: bool = False,
) -> str:
    """Write rows of values into a worksheet; existing files need overwrite, 1,000 rows at most.

    Args:
        path: Path of the workbook, relative to the workspace; must end in .xlsx. Example: out/totals.xlsx
        rows: The table as a list of rows, each a list of text, numbers, true, false or null; 1,000 rows
            and 100 columns at most. Example: [["name", "score"], ["Ada", 95]]
        sheet: Name of the worksheet, 31 characters at most; by default Sheet1; created if missing.
            Example: Totals
        start: Cell at which the table begins; by default A1. Example: B2
        overwrite: Whether an existing file may be changed; by default false. With true its other sheets
            and cells are kept, but its formulas have no values until a spreadsheet program saves the file.
            Example: true
    """
    if not path.lower().endswith(".xlsx"):
        raise ToolFault("INVALID_PARAM", f"not a workbook: {path} — give a path that ends in .xlsx")
    top, left = cells.check_table(rows, start)
    if not 0 < len(sheet) <= 31 or re.search(r"[\\/*?:\[\]]|^'|'$", sheet):
        raise ToolFault("INVALID_PARAM", f"not a sheet name: {sheet} — use up to 31 characters without \\/*?:[]")
    target = workbook.inside(workspace, path)
    if target.exists() and not overwrite:
        raise ToolFault("CONFLICT", f"file exists: {path} — use another path, or overwrite: true to change it")
    book = workbook.existing(target, path) if target.exists() else workbook.new()
    table = workbook.named(book, sheet) or book.create_sheet(sheet)
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            cell = table.cell(top + down, left + right, value)
            if isinstance(value, str):
                cell.data_type = "s"  # openpyxl would make a formula of "=1+2" and an error of "#N/A"
    workbook.save(book, target, path, workspace)
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    warning_text = workbook.lost_values(book)
    return f"wrote {count} to {path}, sheet {table.title}, from {start}" + (f"; {warning_text}" if warning_text else "")


def excel_info(workspace: Path, path: str) -> dict[str, Any]:
    """List the worksheets of a workbook with their sizes and first rows; files up to 20 MB.

    Args:
        path: Path of the workbook, relative to the workspace; .xlsx or .xlsm, 20 MB at most.
            Example: data/report.xlsx
    """
    file = workbook.inside(workspace, path)
    with workbook.opened(file, path) as book:
        sheets = []
        for table in book.worksheets:
            rows, columns = _size(table)
            width = min(max(columns, 1), cells.COLUMNS_LIMIT)
            header = next(table.iter_rows(max_row=1, max_col=width, values_only=True), ())
            size = {"rows": rows, "columns": columns}
            sheets.append({"name": table.title, **size, "header": [_plain(value) for value in header]})
        return {"path": path, "bytes": file.stat().st_size, "sheets": sheets}


def _whole(table: Any) -> list[list[Any]]:
    """Read all used cells; the size stated in a file may be missing or wrong."""
    table.reset_dimensions()
    rows: list[list[Any]] = []
    for number, row in enumerate(table.iter_rows(values_only=True), 1):
        values = _stripped(row)
        if not values:
            continue
        if number > cells.ROWS_LIMIT or len(values) > cells.COLUMNS_LIMIT:
            problem = f"sheet is too large: {table.title} has more than 1,000 rows or 100 columns"
            raise ToolFault("INVALID_PARAM", f"{problem} — {cells.PARTS}")
        rows += [[] for _ in range(number - 1 - len(rows))]
        rows.append([_plain(value) for value in values])
    width = max(map(len, rows), default=0)
    return [values + [None] * (width - len(values)) for values in rows]


def _size(table: Any) -> tuple[int, int]:
    """Return the rows and columns stated in the file; counted if the file states nothing or only one cell."""
    rows, columns = table.max_row or 0, table.max_column or 0
    if rows * columns > 1:
        return rows, columns
    table.reset_dimensions()
    sizes = [(number, len(_stripped(row))) for number, row in enumerate(table.iter_rows(values_only=True), 1)]
    used = [(number, width) for number, width in sizes if width]
    return (used[-1][0], max(width for _, width in used)) if used else (0, 0)


def _stripped(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Remove the empty cells at the end of a row."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
