"""Workbooks as tools: read a range, write a table, list the sheets. Needs openpyxl (the extra `excel`)."""

from __future__ import annotations

import datetime
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.fault import ToolFault

if find_spec("openpyxl") is None:
    raise ImportError("it needs openpyxl, which the extra brings: pip install 'weft[excel]'")

if TYPE_CHECKING:
    from openpyxl import Workbook

SIZE_LIMIT = 20 * 1024**2
UNPACKED_LIMIT = 400 * 1024**2
ROWS_LIMIT = 1_000
COLUMNS_LIMIT = 100
SUFFIXES = (".xlsx", ".xlsm")
AREA = re.compile(r"([A-Za-z]{1,3}[1-9][0-9]{0,6})(?::([A-Za-z]{1,3}[1-9][0-9]{0,6}))?")
CELL = re.compile(r"[A-Za-z]{1,3}[1-9][0-9]{0,6}")


def excel_read(workspace: Path, path: str, sheet: str = "", range: str = "") -> dict[str, Any]:  # noqa: A002
    """Read the cells of a worksheet as rows of values; files up to 20 MB, at most 1,000 rows and 100 columns.

    Args:
        path: Path of the workbook, relative to the workspace; .xlsx or .xlsm, 20 MB at most.
            Example: data/report.xlsx
        sheet: Name of the worksheet; by default the first one. Example: Sales
        range: Cells to read as FIRST:LAST; by default all that are used, at most 1,000 rows and
            100 columns. Example: A1:D20
    """
    first, last = _area(range)
    book = _opened(_inside(workspace, path), path)
    try:
        table = _sheet(book, sheet)
        bounds = _bounds(table, first, last)
        rows = [[_plain(value) for value in row] for row in table.iter_rows(**bounds, values_only=True)]
        while rows and not range and all(value is None for value in rows[-1]):
            rows.pop()
        return {"sheet": table.title, "rows": rows}
    finally:
        book.close()


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
        sheet: Name of the worksheet, 31 characters at most; by default Sheet1, made where it is not there.
            Example: Totals
        start: Cell at which the table begins; by default A1. Example: B2
        overwrite: Whether an existing file may be changed; by default false. With true its other sheets
            and cells stay as they are. Example: true
    """
    _writable(path, rows, sheet, start)
    target = _inside(workspace, path)
    if target.exists() and not overwrite:
        raise ToolFault("CONFLICT", f"file exists: {path} — give another path, or overwrite: true to change it")
    book = _opened(target, path, read_only=False) if target.exists() else _new()
    table = book[sheet] if sheet in book.sheetnames else book.create_sheet(sheet)
    origin = table[start]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            cell = table.cell(origin.row + down, origin.column + right, value)
            if isinstance(value, str) and value.startswith("="):
                cell.data_type = "s"  # text from a model is never taken for a formula
    _saved(book, target)
    return f"wrote {len(rows)} rows to {path}, sheet {sheet}, from {start}"


def excel_info(workspace: Path, path: str) -> dict[str, Any]:
    """List the worksheets of a workbook with their sizes and first rows; files up to 20 MB.

    Args:
        path: Path of the workbook, relative to the workspace; .xlsx or .xlsm, 20 MB at most.
            Example: data/report.xlsx
    """
    file = _inside(workspace, path)
    book = _opened(file, path)
    try:
        sheets = []
        for table in book.worksheets:
            width = min(table.max_column or 1, COLUMNS_LIMIT)
            header = next(table.iter_rows(max_row=1, max_col=width, values_only=True), ())
            size = {"rows": table.max_row or 0, "columns": table.max_column or 0}
            sheets.append({"name": table.title, **size, "header": [_plain(value) for value in header]})
        return {"path": path, "bytes": file.stat().st_size, "sheets": sheets}
    finally:
        book.close()


def _inside(workspace: Path, path: str) -> Path:
    root = workspace.resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        raise ToolFault("ACCESS_DENIED", f"path is outside the workspace: {path} — give a path inside it")
    if file.suffix.lower() not in SUFFIXES:
        raise ToolFault("INVALID_PARAM", f"not a workbook: {path} — give a path that ends in .xlsx or .xlsm")
    return file


def _opened(file: Path, path: str, *, read_only: bool = True) -> Workbook:
    import zipfile

    from openpyxl import load_workbook

    if file.is_dir():
        raise ToolFault("IS_DIRECTORY", f"path is a folder: {path} — give the path of a workbook")
    if not file.is_file():
        raise ToolFault("NOT_FOUND", f"file does not exist: {path} — list the files to find its path")
    size = file.stat().st_size
    if size > SIZE_LIMIT:
        megabytes = f"{size / 1024**2:.1f} MB"
        raise ToolFault("INVALID_PARAM", f"file is too large: {megabytes} — split it, the limit is 20 MB")
    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked <= UNPACKED_LIMIT:
            macros = file.suffix.lower() == ".xlsm" and not read_only
            return load_workbook(file, read_only=read_only, data_only=read_only, keep_vba=macros)
    except PermissionError as error:
        raise ToolFault("PERMISSION_DENIED", f"file may not be read: {path} — change its rights") from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ToolFault("EXECUTION_ERROR", f"not a readable workbook: {path} — save it again as .xlsx") from error
    raise ToolFault("INVALID_PARAM", f"file unpacks to more than 400 MB: {path} — split it")


def _new() -> Workbook:
    from openpyxl import Workbook

    book = Workbook()
    if book.active is not None:
        book.remove(book.active)
    return book


def _sheet(book: Workbook, name: str) -> Any:
    if not name:
        return book.worksheets[0]
    for table in book.worksheets:
        if table.title == name:
            return table
    sheets = ", ".join(table.title for table in book.worksheets)
    raise ToolFault("NOT_FOUND", f"sheet does not exist: {name} — the sheets are: {sheets}")


def _area(area: str) -> tuple[str, str]:
    match = AREA.fullmatch(area.strip()) if area.strip() else None
    if area.strip() and match is None:
        raise ToolFault("INVALID_PARAM", f"not a range: {area} — write it as FIRST:LAST, such as A1:D20")
    return (match[1], match[2] or match[1]) if match else ("", "")


def _bounds(table: Any, first: str, last: str) -> dict[str, int]:
    from openpyxl.utils.cell import coordinate_to_tuple

    if not first:
        rows, columns = table.max_row or 1, table.max_column or 1
        bounds = {"min_row": 1, "max_row": rows, "min_col": 1, "max_col": columns}
    else:
        (top, left), (bottom, right) = coordinate_to_tuple(first.upper()), coordinate_to_tuple(last.upper())
        bounds = {
            "min_row": min(top, bottom),
            "max_row": max(top, bottom),
            "min_col": min(left, right),
            "max_col": max(left, right),
        }
    height = bounds["max_row"] - bounds["min_row"] + 1
    width = bounds["max_col"] - bounds["min_col"] + 1
    if height > ROWS_LIMIT or width > COLUMNS_LIMIT:
        what = f"range is too large: {height} rows × {width} columns"
        raise ToolFault("INVALID_PARAM", f"{what} — read it in parts of 1,000 rows × 100 columns, such as A1:D20")
    return bounds


def _writable(path: str, rows: list[Any], sheet: str, start: str) -> None:
    """All arguments are checked before any file is touched."""
    if not path.lower().endswith(".xlsx"):
        raise ToolFault("INVALID_PARAM", f"not a workbook: {path} — give a path that ends in .xlsx")
    if not rows or not all(isinstance(row, list) for row in rows):
        raise ToolFault("INVALID_PARAM", "rows is no list of lists: — write it as [[…], […]]")
    if len(rows) > ROWS_LIMIT or max(map(len, rows)) > COLUMNS_LIMIT:
        raise ToolFault("INVALID_PARAM", f"table is too large: {len(rows)} rows — write 1,000 × 100 at a time")
    for row in rows:
        for value in row:
            if not isinstance(value, str | int | float | bool | None):
                raise ToolFault("INVALID_PARAM", f"not a cell's value: {value} — give text, numbers or null")
    if not 0 < len(sheet) <= 31 or re.search(r"[\\/*?:\[\]]", sheet):
        raise ToolFault("INVALID_PARAM", f"not a sheet's name: {sheet} — use up to 31 characters without \\/*?:[]")
    if not CELL.fullmatch(start):
        raise ToolFault("INVALID_PARAM", f"not a cell: {start} — write it as A1")


def _saved(book: Workbook, target: Path) -> None:
    """Written beside the target and moved there, so that a failure leaves the old file whole."""
    import tempfile

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".xlsx", dir=target.parent)
    os.close(handle)
    try:
        book.save(name)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
