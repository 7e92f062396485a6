"""Workbooks are read and written inside the workspace, within limits, and never overwritten by accident."""

from __future__ import annotations

import asyncio
import datetime
import re
import subprocess
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest

from goalwright_skills.builtin.excel import sheet_tools as excel
from goalwright_skills.builtin.writing.function_write import FunctionWrite
from goalwright_skills.builtin.writing.write_place import WritePlace
from goalwright_skills.functions.functions import tool

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    table = book.active
    assert table is not None
    table.title = "Sales"
    for row in (["name", "score"], ["Ada", 95], ["Bob", 88.5], [None, datetime.date(2024, 1, 2)]):
        table.append(row)
    book.create_sheet("Empty")
    book.save(tmp_path / "report.xlsx")
    return tmp_path


def with_formulas(file: Path, cells: str) -> None:
    """Write a workbook whose first sheet has these cells, like Excel."""
    openpyxl.Workbook().save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = re.sub("<sheetData ?/>|<sheetData></sheetData>", f"<sheetData>{cells}</sheetData>", members[sheet])
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)


def call(workspace: Path, name: str, **arguments: Any) -> Envelope:
    return asyncio.run(tool(getattr(excel, name), name, workspace).call(arguments))


def test_reads_the_first_sheet(workspace: Path) -> None:
    envelope = call(workspace, "excel_read", path="report.xlsx")
    rows = [["name", "score"], ["Ada", 95], ["Bob", 88.5], [None, "2024-01-02T00:00:00"]]
    assert envelope.data["output"] == {"sheet": "Sales", "rows": rows}


@pytest.mark.parametrize("area", ["A2:B3", "b3:a2"])
def test_a_range_of_a_named_sheet_is_read(workspace: Path, area: str) -> None:
    envelope = call(workspace, "excel_read", path="report.xlsx", sheet="Sales", range=area)
    assert envelope.data["output"]["rows"] == [["Ada", 95], ["Bob", 88.5]]


def test_a_range_may_name_its_sheet(workspace: Path) -> None:
    envelope = call(workspace, "excel_read", path="report.xlsx", range="Sales!$A$2:$B$3")
    assert envelope.data["output"]["rows"] == [["Ada", 95], ["Bob", 88.5]]


def test_file_without_stated_size_is_read_completely(workspace: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    table = book.create_sheet("Stream")
    for number in range(3):
        table.append([number, "x"])
    book.save(workspace / "stream.xlsx")
    rows = call(workspace, "excel_read", path="stream.xlsx").data["output"]["rows"]
    assert rows == [[0, "x"], [1, "x"], [2, "x"]]
    (sheet,) = call(workspace, "excel_info", path="stream.xlsx").data["output"]["sheets"]
    assert (sheet["rows"], sheet["columns"]) == (3, 2)


def test_a_sheet_beyond_the_limits_is_read_in_parts(workspace: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    table = book.create_sheet("Long")
    for number in range(1_001):
        table.append([number])
    book.save(workspace / "long.xlsx")
    refused = call(workspace, "excel_read", path="long.xlsx")
    assert refused.error is not None
    assert "in parts" in refused.error.message
    part = call(workspace, "excel_read", path="long.xlsx", range="A1000:A1001")
    assert part.data["output"]["rows"] == [[999], [1000]]


def test_sheet_names_ignore_case(workspace: Path) -> None:
    envelope = call(workspace, "excel_write", path="report.xlsx", rows=[["x"]], sheet="SALES", overwrite=True)
    assert envelope.text == "wrote 1 row to report.xlsx, sheet Sales, from A1"


def test_info_lists_the_sheets(workspace: Path) -> None:
    output = call(workspace, "excel_info", path="report.xlsx").data["output"]
    assert output["sheets"][0] == {"name": "Sales", "rows": 4, "columns": 2, "header": ["name", "score"]}
    assert [sheet["name"] for sheet in output["sheets"]] == ["Sales", "Empty"]


def test_written_rows_are_read_back(workspace: Path) -> None:
    rows = [["a", 1], ["=SUM(1,2)", None]]
    assert call(workspace, "excel_write", path="out/new.xlsx", rows=rows, start="B2").status == "success"
    read = call(workspace, "excel_read", path="out/new.xlsx", range="B2:C3").data["output"]
    assert read["rows"] == rows


def test_formulas_without_values_are_reported_after_a_write(workspace: Path) -> None:
    column = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in (1, 2))
    with_formulas(workspace / "fx.xlsx", f'{column}<row r="3"><c r="A3"><f>SUM(A1:A2)</f><v>3</v></c></row>')
    before = call(workspace, "excel_read", path="fx.xlsx").data["output"]
    assert before == {"sheet": "Sheet", "rows": [[1], [2], [3]]}
    wrote = call(workspace, "excel_write", path="fx.xlsx", rows=[["=x", 1.5]], sheet="Summary", overwrite=True)
    says = "1 formula has no stored value until a spreadsheet program saves the file"
    assert wrote.text == f"wrote 1 row to fx.xlsx, sheet Summary, from A1; {says}"
    for area, named in (("", True), ("A1:A3", True), ("A1:B2", False), ("B1:B3", False)):
        output = call(workspace, "excel_read", path="fx.xlsx", sheet="Sheet", range=area).data["output"]
        assert ("formulas without a stored value: A3 —" in output.get("warning", "")) is named


def test_at_most_ten_formulas_without_a_value_are_named(workspace: Path) -> None:
    blank = '<c r="A1" t="str"><f>""</f><v></v></c><c r="B1" s="0"/><c r="C1"><f>0</f><v>0</v></c>'
    with_formulas(workspace / "fx.xlsx", f"<row>{blank}</row>" + "<row><c><f>NOW()</f></c></row>" * 12)
    assert "warning" not in call(workspace, "excel_read", path="fx.xlsx", range="A1:C1").data["output"]
    ten = ", ".join(f"A{row}" for row in range(2, 12))
    for area in ("", "A1:A13"):
        warning = call(workspace, "excel_read", path="fx.xlsx", range=area).data["output"]["warning"]
        assert warning.startswith(f"formulas without a stored value: {ten} and more — ")


@pytest.mark.parametrize("text", ["=SUM(1,2)", "=", "#N/A", "#REF!", "'x", "1"])
def test_text_is_written_as_text(workspace: Path, text: str) -> None:
    for sheet in ("Texts", "Other"):  # the second call loads and saves what the first one wrote
        call(workspace, "excel_write", path="report.xlsx", rows=[[text]], sheet=sheet, overwrite=True)
    book = openpyxl.load_workbook(workspace / "report.xlsx")
    assert [(book[sheet]["A1"].data_type, book[sheet]["A1"].value) for sheet in ("Texts", "Other")] == [("s", text)] * 2


def test_15_digit_integers_and_longer_text_are_kept(workspace: Path) -> None:
    rows = [[10**15 - 1, 1 - 10**15, "20261118114752751", True]]
    assert call(workspace, "excel_write", path="n.xlsx", rows=rows).status == "success"
    assert call(workspace, "excel_read", path="n.xlsx").data["output"]["rows"] == rows


def test_an_existing_file_is_changed_only_with_overwrite(workspace: Path) -> None:
    before = (workspace / "report.xlsx").read_bytes()
    refused = call(workspace, "excel_write", path="report.xlsx", rows=[["x"]])
    assert refused.error is not None
    assert refused.error.code == "CONFLICT"
    assert (workspace / "report.xlsx").read_bytes() == before
    call(workspace, "excel_write", path="report.xlsx", rows=[["x"]], sheet="New", overwrite=True)
    assert call(workspace, "excel_read", path="report.xlsx").data["output"]["rows"][1] == ["Ada", 95]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("excel_read", {"path": "../x.xlsx"}, "ACCESS_DENIED", "outside the workspace"),
        ("excel_read", {"path": "/etc/x.xlsx"}, "ACCESS_DENIED", "outside the workspace"),
        ("excel_read", {"path": "none.xlsx"}, "NOT_FOUND", "none.xlsx"),
        ("excel_read", {"path": "a.csv"}, "INVALID_PARAM", ".xlsx"),
        ("excel_read", {"path": "bad.xlsx"}, "EXECUTION_ERROR", "not a readable workbook"),
        ("excel_read", {"path": "big.xlsx"}, "INVALID_PARAM", "20 MB"),
        ("excel_read", {"path": "folder.xlsx"}, "IS_DIRECTORY", "folder"),
        ("excel_read", {"path": "report.xlsx", "sheet": "X"}, "NOT_FOUND", "the sheets are: Sales, Empty"),
        ("excel_read", {"path": "report.xlsx", "range": "1:2"}, "INVALID_PARAM", "A1:D20"),
        ("excel_read", {"path": "report.xlsx", "range": "A1:A2000"}, "INVALID_PARAM", "2000 rows"),
        ("excel_read", {"path": "report.xlsx", "range": "ZZZ1:ZZZ2"}, "INVALID_PARAM", "not a range"),
        ("excel_read", {"path": "report.xlsx", "range": "X!A1"}, "NOT_FOUND", "the sheets are: Sales, Empty"),
        (
            "excel_read",
            {"path": "report.xlsx", "range": "X!A1", "sheet": "Sales"},
            "INVALID_PARAM",
            "two different sheets",
        ),
        ("excel_read", {"path": "torn.xlsx"}, "EXECUTION_ERROR", "not a readable workbook"),
        ("excel_read", {"path": "a.xls"}, "INVALID_PARAM", "old .xls format"),
        ("excel_read", {"path": "a\0.xlsx"}, "INVALID_PARAM", "not a path"),
        ("excel_read", {"path": "a" * 300 + ".xlsx"}, "INVALID_PARAM", "not a path"),
        ("excel_write", {"path": "n.xlsx", "rows": [["x" * 40_000]]}, "INVALID_PARAM", "too long for a cell"),
        ("excel_write", {"path": "n.xlsx", "rows": [["\x0b"]]}, "INVALID_PARAM", "control characters"),
        ("excel_write", {"path": "n.xlsx", "rows": [[1e400]]}, "INVALID_PARAM", "cell value"),
        ("excel_write", {"path": "n.xlsx", "rows": [[20261118114752751]]}, "INVALID_PARAM", "more than 15 digits"),
        ("excel_write", {"path": "n.xlsx", "rows": [[-(10**15)]]}, "INVALID_PARAM", "more than 15 digits"),
        ("excel_write", {"path": "n.xlsx", "rows": [[1, 2]], "start": "XFD1"}, "INVALID_PARAM", "leaves the sheet"),
        ("excel_write", {"path": "report.xlsx/n.xlsx", "rows": [[1]]}, "EXECUTION_ERROR", "cannot be written"),
        ("excel_write", {"path": "n.xlsx", "rows": []}, "INVALID_PARAM", "list of lists"),
        ("excel_write", {"path": "n.xlsx", "rows": [[{}]]}, "INVALID_PARAM", "cell value"),
        ("excel_write", {"path": "n.xlsx", "rows": [[1]], "start": "1A"}, "INVALID_PARAM", "not a cell"),
        ("excel_write", {"path": "n.xlsx", "rows": [[1]], "sheet": "a/b"}, "INVALID_PARAM", "sheet name"),
        ("excel_write", {"path": "n.xls", "rows": [[1]]}, "INVALID_PARAM", ".xlsx"),
        ("excel_write", {"path": "../n.xlsx", "rows": [[1]]}, "ACCESS_DENIED", "outside"),
    ],
)
def test_errors_name_the_next_step(workspace: Path, name: str, arguments: dict[str, Any], code: str, says: str) -> None:
    (workspace / "bad.xlsx").write_text("not a zip")
    with (workspace / "big.xlsx").open("wb") as file:
        file.truncate(21 * 1024**2)
    (workspace / "folder.xlsx").mkdir()
    with zipfile.ZipFile(workspace / "report.xlsx") as whole, zipfile.ZipFile(workspace / "torn.xlsx", "w") as torn:
        for name_inside in whole.namelist():
            torn.writestr(name_inside, b"<torn" if "worksheets" in name_inside else whole.read(name_inside))
    envelope = call(workspace, name, **arguments)
    assert envelope.error is not None
    assert envelope.error.code == code
    assert says in envelope.error.message
    assert "—" in envelope.error.message


def test_a_link_out_of_the_workspace_is_refused(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.xlsx"
    (workspace / "report.xlsx").rename(outside)
    (workspace / "link.xlsx").symlink_to(outside)
    envelope = call(workspace, "excel_read", path="link.xlsx")
    assert envelope.error is not None
    assert envelope.error.code == "ACCESS_DENIED"


def bound_write(workspace: Path, **more: Any) -> FunctionWrite:
    """Return the tool bound to a task of a run."""
    place = WritePlace(workspace, workspace / ".agents/runs/r1/artifacts", **more)
    return FunctionWrite(tool(excel.excel_write, "excel_write", workspace), place)


def test_run_writes_the_workspace_only_with_permission(workspace: Path) -> None:
    report, before = workspace / "report.xlsx", (workspace / "report.xlsx").read_bytes()
    change = {"path": "report.xlsx", "rows": [["x"]], "sheet": "New", "overwrite": True}
    off = bound_write(workspace)
    refused = asyncio.run(off.call(change))
    assert refused.error is not None
    assert (refused.error.code, "may not change files" in refused.error.message) == ("ACCESS_DENIED", True)
    assert off.effects(change).reach == "nothing", "nobody is asked"
    assert report.read_bytes() == before

    kept = {"path": ".agents/runs/r1/artifacts/out/new.xlsx", "rows": [["x"]]}
    assert off.effects(kept).reach == "artifacts"
    done = asyncio.run(off.call(kept))
    assert (done.status, done.data["artifacts"][0]["path"]) == ("success", "out/new.xlsx")
    assert call(workspace, "excel_read", path=done.data["path"]).data["output"]["rows"] == [["x"]]

    on = bound_write(workspace, writes="ask")
    assert on.effects(change).reach == "workspace"
    assert (on.name, on.description, on.parameters) == (off._tool.name, off._tool.description, off._tool.parameters)
    changed = asyncio.run(on.call(change))
    assert (changed.status, changed.text) == ("success", "wrote 1 row to report.xlsx, sheet New, from A1")
    assert call(workspace, "excel_info", path="report.xlsx").data["output"]["sheets"][2]["name"] == "New"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "report.xlsx", "rows": [[1]]}, "CONFLICT"),
        ({"path": "n.csv", "rows": [[1]]}, "INVALID_PARAM"),
        ({"path": "n.xlsx", "rows": [[1]], "cell": "A1"}, "INVALID_PARAM"),
        ({"path": "n.xlsx"}, "INVALID_PARAM"),
        ({"rows": [[1]]}, "INVALID_PARAM"),
        ({"path": "../n.xlsx", "rows": [[1]]}, "ACCESS_DENIED"),
        ({"path": ".agents/runs/r2/artifacts/n.xlsx", "rows": [[1]]}, "ACCESS_DENIED"),
        ({"path": ".agents/skills/n.xlsx", "rows": [[1]]}, "ACCESS_DENIED"),
        ({"path": "link.xlsx", "rows": [[1]], "overwrite": True}, "ACCESS_DENIED"),
    ],
)
def test_invalid_call_in_a_run_changes_nothing(workspace: Path, arguments: dict[str, Any], code: str) -> None:
    (workspace / "link.xlsx").symlink_to(workspace / "report.xlsx")
    before = (workspace / "report.xlsx").read_bytes()
    refused = asyncio.run(bound_write(workspace, writes="allow").call(arguments))
    assert refused.error is not None
    assert refused.error.code == code
    assert sorted(one.name for one in workspace.rglob("*.xlsx")) == ["link.xlsx", "report.xlsx"]
    assert (workspace / "report.xlsx").read_bytes() == before


def test_patch_of_a_workbook_applies_with_git_and_undo_restores(workspace: Path, tmp_path_factory: Any) -> None:
    before, other = (workspace / "report.xlsx").read_bytes(), tmp_path_factory.mktemp("other")
    (other / "report.xlsx").write_bytes(before)
    at = bound_write(workspace, writes="allow")
    for path in ("report.xlsx", "out/new.xlsx"):
        assert asyncio.run(at.call({"path": path, "rows": [["x"]], "overwrite": True})).status == "success"
    changes = WritePlace(workspace, workspace / ".agents/runs/r1/artifacts").changes
    subprocess.run(["git", "apply"], input=changes.patch(changes.every()).encode(), cwd=other, check=True)
    for path in ("report.xlsx", "out/new.xlsx"):
        assert (other / path).read_bytes() == (workspace / path).read_bytes()
    assert changes.undo() == []
    assert (workspace / "report.xlsx").read_bytes() == before
    assert not (workspace / "out/new.xlsx").exists()
