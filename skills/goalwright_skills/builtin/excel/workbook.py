"""Opens and saves workbooks inside the workspace, within a size limit, and finds formulas without a stored value."""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.builtin.excel import cells
from goalwright_skills.hidden_paths import AGENTS, is_hidden
from goalwright_skills.text.formatting import counted, plural
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openpyxl import Workbook

SIZE_LIMIT = 20 * 1024**2
_NAMES_LIMIT = 10
WHOLE = cells.Area(1, 1, cells.ROWS_LIMIT, cells.COLUMNS_LIMIT)
UNPACKED_LIMIT = 400 * 1024**2
SUFFIXES = (".xlsx", ".xlsm")
# The exceptions of openpyxl on damaged files; XML's parse error is a SyntaxError.
UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, SyntaxError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def inside(workspace: Path, path: str) -> Path:
    """Return the file at a path; raises ToolFault if it is outside the workspace or not a workbook."""
    root = workspace.resolve()
    try:
        file = (root / path).resolve()
        file.exists()
    except (ValueError, OSError) as error:
        raise ToolFault("INVALID_PARAM", f"not a path: {path[:80]!r} — give the path of a workbook") from error
    if not file.is_relative_to(root):
        raise ToolFault("ACCESS_DENIED", f"path is outside the workspace: {path} — give a path inside it")
    if is_hidden(root, file, (root / AGENTS / "runs",)):
        raise ToolFault("ACCESS_DENIED", f"path is hidden from tools: {path} — give another path")
    if file.suffix.lower() == ".xls":
        raise ToolFault(
            "INVALID_PARAM", f"the old .xls format is not supported: {path} — save it as .xlsx and use that path"
        )
    if file.suffix.lower() not in SUFFIXES:
        raise ToolFault("INVALID_PARAM", f"not a workbook: {path} — give a path that ends in .xlsx or .xlsm")
    return file


@contextlib.contextmanager
def opened(file: Path, path: str, *, read_only: bool = True) -> Iterator[Workbook]:
    """Open a workbook; errors while it is read are mapped too, because damage may appear only then."""
    from openpyxl import load_workbook

    _check(file, path)
    book = None
    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > UNPACKED_LIMIT:
            raise ToolFault("INVALID_PARAM", f"file unpacks to more than 400 MB: {path} — split it")
        macros = file.suffix.lower() == ".xlsm" and not read_only
        book = load_workbook(file, read_only=read_only, data_only=read_only, keep_vba=macros)
        yield book
    except PermissionError as error:
        raise ToolFault("PERMISSION_DENIED", f"file is not readable: {path} — change its permissions") from error
    except UNREADABLE as error:
        raise ToolFault("EXECUTION_ERROR", f"not a readable workbook: {path} — save it again as .xlsx") from error
    finally:
        if book is not None:
            book.close()


def _check(file: Path, path: str) -> None:
    if file.is_dir():
        raise ToolFault("IS_DIRECTORY", f"path is a folder: {path} — give the path of a workbook")
    if not file.is_file():
        raise ToolFault("NOT_FOUND", f"file does not exist: {path} — list the files to find its path")
    size = file.stat().st_size
    if size > SIZE_LIMIT:
        megabytes = f"{size / 1024**2:.1f} MB"
        raise ToolFault("INVALID_PARAM", f"file is too large: {megabytes} — split it, the limit is 20 MB")


def existing(file: Path, path: str) -> Workbook:
    """Load a workbook to change into memory, so that its file can be closed."""
    with opened(file, path, read_only=False) as book:
        return book


def new() -> Workbook:
    """Return a workbook without sheets."""
    from openpyxl import Workbook

    book = Workbook()
    if book.active is not None:
        book.remove(book.active)
    return book


def sheet(book: Workbook, name: str) -> Any:
    """Return the named worksheet, or the first one for an empty name; raises ToolFault if there is none."""
    if not name and book.worksheets:
        return book.worksheets[0]
    table = named(book, name)
    if table is not None:
        return table
    sheets = ", ".join(table.title for table in book.worksheets)
    raise ToolFault("NOT_FOUND", f"sheet does not exist: {name} — the sheets are: {sheets}")


def named(book: Workbook, name: str) -> Any | None:
    """Return the named worksheet, ignoring case like Excel."""
    for table in book.worksheets:
        if table.title.casefold() == name.casefold():
            return table
    if any(title.casefold() == name.casefold() for title in book.sheetnames):
        raise ToolFault("INVALID_PARAM", f"sheet is a chart without cells: {name} — name another sheet")
    return None


def save(book: Workbook, target: Path, path: str, workspace: Path) -> None:
    """Replace the target atomically, so that a failure leaves the old file intact."""
    content = io.BytesIO()
    book.save(content)
    try:
        safe_files.write(target, content.getvalue(), below=workspace.resolve())
    except safe_files.UnsafePath as error:
        problem = f"file cannot be written: {path} ({error.message}) — use another path"
        raise ToolFault("EXECUTION_ERROR", problem) from error
    except PermissionError as error:
        raise ToolFault("PERMISSION_DENIED", f"file is not writable: {path} — use another path") from error
    except OSError as error:
        problem = f"file cannot be written: {path} ({error.strerror}) — use another path"
        raise ToolFault("EXECUTION_ERROR", problem) from error


def lost_values(book: Any) -> str:
    """Return a warning on a changed workbook's formulas, whose values openpyxl drops; empty if it has none."""
    # iter_rows() would create every empty cell in between
    count = sum(cell.data_type == "f" for table in book.worksheets for cell in table._cells.values())
    if not count:
        return ""
    has = plural(count, "has", "have")
    return f"{counted(count, 'formula')} {has} no stored value until a spreadsheet program saves the file"


def missing_values(table: Any, area: cells.Area) -> str:
    """Return a warning that names the first formulas without a stored value in an area; empty if there are none."""
    names: list[str] = []
    for name in _without_value(table, area):
        if len(names) == _NAMES_LIMIT:
            names[-1] += " and more"
            break
        names.append(name)
    if not names:
        return ""
    return f"formulas without a stored value: {', '.join(names)} — save the file in a spreadsheet program, then read it"


def _without_value(table: Any, area: cells.Area) -> Iterator[str]:
    """Yield the names of the cells from the sheet's XML, because openpyxl returns either values or formulas."""
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
    """Return whether a cell has a formula and no value; empty text is a value."""
    if item.find(f"{namespace}f") is None:
        return False
    value = item.find(f"{namespace}v")
    return value is None or (not value.text and item.get("t") != "str")
