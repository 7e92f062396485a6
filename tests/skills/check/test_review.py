"""A review of every kind of skill finds what a good reviewer would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from goalwright_skills.builtin.excel import sheet_tools as excel
from goalwright_skills.check import Report, fix, review, review_function
from goalwright_skills.check.fixing import fixed
from goalwright_skills.check.running import cause
from goalwright_skills.functions.functions import tool
from tests.skills.workbench import REPLY, Workbench

ROOT = Path(__file__).parents[3]
MANIFEST = {
    "name": "demo_run",
    "description": "Say a word back; at most 100 characters.",
    "runtime": "python",
    "entry": "main.py",
    "parameters": [
        {
            "name": "word",
            "required": True,
            "description": "The word to say, at most 100 letters. Example: tea",
        }
    ],
    "docs": {
        "when_to_use": ["a word is to be said"],
        "when_not_to_use": ["never mind"],
        "examples": [{"scenario": "say tea", "arguments": {"word": "tea"}}],
    },
}
PROGRAM = """
if "word" in arguments:
    reply(arguments["word"])
else:
    reply(error="word is missing: none given — give a word")
"""


async def reviewed(bench: Workbench, program: str = PROGRAM, **keys: Any) -> Report:
    folder = bench.folder()
    (folder / "main.py").write_text(REPLY + program, encoding="utf-8")
    (folder / "skill.yaml").write_text(yaml.safe_dump(MANIFEST | keys, allow_unicode=True), encoding="utf-8")
    return (await review(folder, bench.host()))[-1]


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


async def test_a_good_tool_passes(bench: Workbench) -> None:
    report = await reviewed(bench)
    assert report.ok, report.problems
    assert (report.path, report.ok, report.problems) == (bench.folder() / "skill.yaml", True, ())


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"name": "other_run"}, "manifest-name"),
        ({"name": "Demo"}, "manifest-name"),
        ({"entry": "absent.py"}, "manifest-entry"),
        ({"runtime": "ruby"}, "manifest-runtime"),
        ({"description": "Demo tool, at most 100 characters."}, "description-verb"),
        ({"description": "Say a word back to someone."}, "description-limit"),
        ({"description": "Say 1 word."}, "description-length"),
        (
            {"parameters": [{"name": "word", "required": True, "description": "word"}]},
            "parameter-description",
        ),
        ({"docs": {"when_not_to_use": ["x"]}}, "docs-when-to-use"),
        ({"docs": {"when_to_use": ["x"]}}, "docs-when-not-to-use"),
        ({"docs": {"when_to_use": ["x"], "when_not_to_use": ["y"]}}, "run-example"),
        ({"description": "把一个词原样返回，最多一百个字符，不支持空白的词语。"}, "error-language"),
    ],
)
async def test_each_rule_finds_its_problem(bench: Workbench, keys: dict[str, Any], rule: str) -> None:
    report = await reviewed(bench, **keys)
    assert not report.ok
    assert rule in {finding.rule for finding in report.problems}, report.problems
    assert all(finding.remedy for finding in report.problems)


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        ("reply(arguments['word'])", "run-invalid"),
        ("reply('fine')", "run-invalid"),
        ("sys.exit(1)", "run-example"),
        (PROGRAM.replace("word is missing: none given — give a word", "bad"), "error-form"),
    ],
)
async def test_the_tool_is_run(bench: Workbench, program: str, rule: str) -> None:
    report = await reviewed(bench, program)
    assert rule in {finding.rule for finding in report.problems}


async def test_a_chinese_tool_passes_in_chinese(bench: Workbench) -> None:
    word = {"name": "word", "required": True, "description": "要返回的词，必填，最多一百个字符。示例：茶"}
    program = PROGRAM.replace("word is missing: none given — give a word", "缺少参数: word — 请给出要返回的词")
    description = "返回给出的词语本身，最多一百个字符，不支持空白的词语。"
    report = await reviewed(bench, program, description=description, parameters=[word])
    assert report.ok, report.problems


LINES = """name: demo_run
description: Demo.
runtime: python
entry: main.py
netwrok: true
parameters:
  - name: word
    required: true
    description: word
"""


async def test_each_finding_is_at_the_line_to_fix(bench: Workbench) -> None:
    folder = bench.folder()
    (folder / "main.py").write_text(REPLY + "reply('fine')", encoding="utf-8")
    (folder / "skill.yaml").write_text(LINES, encoding="utf-8")
    (report,) = await review(folder, bench.host())
    lines = {finding.rule: finding.line for finding in report.problems}
    assert lines["description-verb"] == 2
    assert lines["run-invalid"] == 4
    assert lines["manifest-key"] == 5
    assert lines["parameter-description"] == 7
    (slip,) = [finding for finding in report.problems if finding.rule == "manifest-key"]
    assert (slip.severity, slip.remedy) == ("warning", "write network")


async def test_a_tool_that_is_not_trusted_is_neither_built_nor_run(bench: Workbench) -> None:
    bench.trusted = False
    report = await reviewed(bench, f"open({str(bench.root / 'ran')!r}, 'w')\nreply('x')", description="Demo.")
    assert [finding.rule for finding in report.problems if finding.severity == "error"] == [
        "description-verb", "description-limit", "description-length",
    ]  # fmt: skip
    (finding,) = [finding for finding in report.problems if finding.severity == "warning"]
    assert finding.rule == "run-trust"
    assert "trust it" in finding.remedy
    assert not any((bench.root / name).exists() for name in ("ran", "cache", "scratch"))


async def test_a_skill_at_the_root_need_not_have_its_folders_name(tmp_path: Path) -> None:
    text = "---\nname: other\ndescription: Reads letters. Use when letters come.\n---\nRead.\n"
    (tmp_path / "SKILL.md").write_text(text, encoding="utf-8")
    (report,) = await review(tmp_path, None, root=True)
    assert report.problems == ()
    assert fix(tmp_path, root=True) == []
    assert not (await review(tmp_path, None))[0].ok


def test_fix_leaves_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes(b"---\nname: \xff\n")
    assert fix(tmp_path) == []


async def test_without_a_host_nothing_is_run(bench: Workbench) -> None:
    await reviewed(bench, "sys.exit(1)")
    (report,) = await review(bench.folder(), None)
    assert report.ok


async def test_both_files_of_a_folder_are_reviewed(bench: Workbench) -> None:
    (bench.folder() / "SKILL.md").write_text("no frontmatter")
    await reviewed(bench)
    reports = await review(bench.folder(), None)
    assert [(report.path.name, report.ok) for report in reports] == [
        ("SKILL.md", False),
        ("skill.yaml", True),
    ]


async def test_a_folder_without_a_skill_is_an_error(tmp_path: Path) -> None:
    (report,) = await review(tmp_path, None)
    assert report.problems[0].rule == "no-skill"


def test_the_shipped_functions_pass_with_their_page() -> None:
    names = ("excel_read", "excel_write", "excel_info")
    tools = [tool(getattr(excel, name), name, ROOT) for name in names]
    for report in review_function(tools, ROOT / "docs" / "skills" / "excel.md"):
        assert report.problems == (), report


def test_a_function_without_a_page_or_words_fails(tmp_path: Path) -> None:
    def demo_run(word: str) -> str:
        """Demo."""
        return word

    reports = review_function([tool(demo_run, "demo_run", tmp_path)], tmp_path / "demo.md")
    rules = {finding.rule for report in reports for finding in report.problems}
    assert {"description-verb", "parameter-description", "docs-page"} <= rules


def test_the_template_itself_is_not_a_filled_page() -> None:
    page = ROOT / "docs" / "skills" / "_template.md"
    reports = review_function([tool(excel.excel_info, "excel_info", ROOT)], page)
    rules = {finding.rule for finding in reports[-1].problems}
    assert rules == {"docs-placeholder", "docs-tool"}


def test_fix_only_changes_mechanical_problems(tmp_path: Path) -> None:
    folder = tmp_path / "brewing-tea"
    folder.mkdir()
    text = "\ufeff---\r\nname: Brewing Tea\r\ndescription: Brews.  # kept\r\n---\r\nBrew ${ARGUMENTS}  now\r\n"
    (folder / "SKILL.md").write_bytes(text.encode())
    assert len(fix(folder)) == 3
    expected = "---\nname: brewing-tea\ndescription: Brews.  # kept\n---\nBrew $ARGUMENTS  now\n"
    assert (folder / "SKILL.md").read_text() == expected
    assert fix(folder) == []


def test_fix_puts_a_description_with_a_colon_in_quotes() -> None:
    text = '---\nname: tea\ndescription: Brews: green "tea"\n---\nBrew.\n'
    after, done = fixed(text, "tea")
    assert after == text.replace('Brews: green "tea"', '"Brews: green \\"tea\\""')
    assert done == ["put the description in quotes"]


def test_fix_skips_invalid_frontmatter() -> None:
    assert fixed("no frontmatter", "x") == ("no frontmatter", [])


def test_fix_corrects_a_tools_name_and_keeps_other_text(bench: Workbench) -> None:
    folder = bench.folder()
    (folder / "main.py").touch()
    text = (
        "# Demo-Run\nruntime: python\nentry: main.py\ndescription: Run.\ntools: [{{name: other_run}},\n {{name: {}}}]\n"
    )
    (folder / "skill.yaml").write_text(text.format("Demo-Run"), encoding="utf-8")
    (done,) = fix(folder)
    assert done.endswith("changed Demo-Run to demo_run")
    assert (folder / "skill.yaml").read_text(encoding="utf-8") == text.format("demo_run")
    assert fix(folder) == []


def test_fix_makes_a_binary_executable(bench: Workbench) -> None:
    folder = bench.folder()
    (folder / "tool").write_text("#!/bin/sh\n")
    keys = {"runtime": "binary", "entry": "tool"}
    (folder / "skill.yaml").write_text(yaml.safe_dump(MANIFEST | keys))
    assert len(fix(folder)) == 1
    assert (folder / "tool").stat().st_mode & 0o100


def test_fix_keeps_variables_of_programs() -> None:
    text = "---\nname: tea\ndescription: x\n---\nFor $ARGS and {{ARGUMENTS}}:\n\n```sh\nrun $ARGS\n```\nof $ARGUMENT\n"
    after, done = fixed(text, "tea")
    assert after.endswith("For $ARGUMENTS and $ARGUMENTS:\n\n```sh\nrun $ARGS\n```\nof $ARGUMENTS\n")
    assert done == ["corrected the spelling of $ARGUMENTS"]


def test_fix_does_not_quote_a_tag_in_a_description() -> None:
    text = "---\nname: tea\ndescription: !!python/name:os.system x\n---\nBrew.\n"
    assert fixed(text, "tea") == (text, [])


async def test_a_tool_that_crashes_shows_its_own_error(bench: Workbench) -> None:
    report = await reviewed(bench, "open('absent.txt')\n")
    messages = [one.message for one in report.problems]
    assert len(messages) == 2
    for message in messages:
        assert "demo_run crashed (exit status 1): FileNotFoundError: [Errno 2] No such file or directory" in message
        assert "(main.py, line " in message
        assert "trace" not in message


async def test_a_tool_that_answers_prose_gets_no_advice_to_look_at_a_trace(bench: Workbench) -> None:
    report = await reviewed(bench, "print('68 F')\n")
    assert "its last line is not JSON: 68 F" in report.problems[0].message
    assert "trace" not in report.problems[0].message


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("", ""),
        ("warning: a\nno such city\n\n", "no such city"),
        ('Traceback:\n  File "/a/main.py", line 3, in <module>\nKeyError: 1', "KeyError: 1 (main.py, line 3)"),
        ("requests.exceptions.ConnectionError: no\n", "requests.exceptions.ConnectionError: no"),
        ("main.js:1\nTypeError: no function\n    at main.js:1:1\n\nNode.js v20.20.2\n", "TypeError: no function"),
        ("panic: boom\n\ngoroutine 1 [running]:\nexit status 2\n", "panic: boom"),
    ],
)
def test_cause_finds_the_error_in_the_output_of_each_runtime(stderr: str, expected: str) -> None:
    assert cause(stderr) == expected
