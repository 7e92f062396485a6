"""What a description, a parameter and an error must say, in Chinese and in English."""

from __future__ import annotations

import pytest

from goalwright_skills.check import wording


@pytest.mark.parametrize(
    "text",
    [
        "Read a sheet.",
        "Reads a sheet.",
        "Fetches pages",
        "Copies a file",
        "Anonymize names",
        "读取 Excel 工作表指定区域内容",
        "批量重命名文件",
        "拉取网页正文",
        "Пишет файл",
    ],
)
def test_descriptions_that_start_with_a_verb_are_accepted(text: str) -> None:
    assert wording.starts_with_verb(text)


@pytest.mark.parametrize(
    "text",
    [
        "Excel reader",
        "Quick reads",
        "Demo tool",
        "这个工具基于某库，可以读取文件",
        "This tool reads",
        "The best tool",
        "Excel 读取工具",
        "一个工具",
        "",
    ],
)
def test_descriptions_that_do_not_start_with_a_verb_are_reported(text: str) -> None:
    assert not wording.starts_with_verb(text)


def test_limits() -> None:
    assert wording.states_limit("Read a sheet of up to 20 MB")
    assert wording.states_limit("读取工作表，文件上限二十兆")
    assert not wording.states_limit("Read a sheet")
    assert not wording.states_limit("读取文件内容")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("读取文件", False),
        ("读" * 20, True),
        ("读" * 81, False),
        ("Read", False),
        ("Read " * 40, True),
        ("R" * 201, False),
    ],
)
def test_lengths(text: str, right: bool) -> None:
    assert wording.right_length(text) is right


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Path of the file, relative to the workspace. Example: a.txt", []),
        ("Excel 文件路径（相对工作区）。示例：data/report.xlsx", []),
        ("工作表名，默认第一个 Sheet。示例：Sheet1", []),
        ("是否包含表头行（默认 true）。为 true 时第一行作为字段名返回", []),
        ("Whether to show the header (default true). When true, the first row is one", []),
        ("Sheet 名称（可选）", ["an example"]),
        ("单元格区域", ["its constraint or default", "an example"]),
        ("如 A1:C10", ["what it is", "its constraint or default"]),
        ("Path of the file", ["its constraint or default", "an example"]),
        ("", ["what it is", "its constraint or default", "an example"]),
    ],
)
def test_the_three_parts_of_a_parameter(text: str, missing: list[str]) -> None:
    assert wording.missing_parts(text) == missing


@pytest.mark.parametrize(
    ("message", "right"),
    [
        ("file does not exist: a.xlsx — list the files", True),
        ("文件不存在: report.xlsx — 请先用 file_list 确认路径", True),
        ("open a.xlsx: no such file or directory", False),
        ("错误", False),
        ("", False),
        ("Traceback — x", False),
    ],
)
def test_errors_need_a_next_step(message: str, right: bool) -> None:
    assert wording.says_next_step(message) is right


def test_errors_and_descriptions_share_a_language() -> None:
    assert wording.same_language("文件不存在: a — 请确认", "读取文件内容")
    assert not wording.same_language("no file: a — look", "读取文件内容")
    assert not wording.same_language("文件不存在: 请确认路径", "Read a file")
