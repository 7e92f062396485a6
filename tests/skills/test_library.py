"""The skills that ship: each loads cleanly, keeps to the specification, and is found by the goals it is for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from skills.discovery.locations import LIBRARY
from skills.discovery.registry import Registry
from skills.format import frontmatter
from skills.manage.suspicion import examine
from skills.selection.detectors import detector

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills.selection.detector import SkillDetector
    from tests.nursery import Ran

DOCUMENTATION = LIBRARY.parent.parent / "docs" / "skills.md"
FOLDERS = sorted(path.parent for path in LIBRARY.glob("*/SKILL.md"))
PLACEHOLDER = "$ARGUMENTS"

GOALS = {
    "cataloging-apis": [
        "Write API documentation for my to-do service",
        "List all endpoints of the payment backend with their parameters",
        "Document the REST routes in src/server.ts",
        "I need an API reference generated from our swagger file",
        "Which of our HTTP endpoints are undocumented?",
        "Describe each GraphQL query and mutation this service exposes, with request and response examples",
        "make an inventory of our webhooks and the payload each one sends",
        "为这个服务写一份接口文档",
    ],
    "code-review": [
        "Review my pull request before I merge it",
        "Please look over this diff and tell me what is wrong with it",
        "Do a security audit of auth.py",
        "Give feedback on the code quality of this Python module",
        "Is this commit safe to merge?",
        "critique the patch in fix.diff",
        "Code review for the changes in the payments module",
        "帮我做一次代码审查",
    ],
    "weekly-report-generator": [
        "Write my weekly report from notes.txt",
        "Turn this week's commits and tickets into a status report for my manager",
        "Prepare the team's progress report for this week",
        "What did we get done this week and what is planned for next week? Make a report",
        "weekly status update for the platform team",
        "Summarise the week for my boss",
        "I need an end-of-week summary of what I worked on",
        "帮我写本周的周报",
        "根据这些提交记录生成工作周报",
    ],
    "chinese-writing": [
        "Write the findings up as a report in Chinese",
        "Translate this blog post into Chinese",
        "把这份英文技术文档翻译成中文",
        "用中文写一篇关于量子计算的报告",
        "润色这篇文章，去掉翻译腔",
        "請用繁體中文撰寫一份報告",
        "Polish my Mandarin article so that it reads naturally",
        "统一这篇文章的术语和中英文混排格式",
    ],
    "incremental-update": [
        "Update the existing competitor list with the new findings, without rewriting it",
        "Merge these new entries into our knowledge base and skip duplicates",
        "Refresh report.md with what changed since last week",
        "Only add what is new since the last run",
        "Bring the FAQ document up to date with the new material in updates.txt",
        "sync the new rows into the existing dataset and log the changes",
        "对已有的文档做增量更新",
        "Continue from where the last update stopped and report only new items",
    ],
    "hn-analysis": [
        "What does Hacker News say about SQLite?",
        "Summarize today's top stories on HN",
        "Give me a digest of the Hacker News front page",
        "Summarize the comments on this Hacker News discussion",
        "Which Show HN posts were most interesting this week?",
        "Analyze the Ask HN thread in thread.json",
        "What do commenters on news.ycombinator.com think of our launch?",
        "分析这条 Hacker News 讨论",
    ],
    "web-extraction": [
        "Scrape the product names and prices from this web page",
        "Extract the main text of the article saved in page.html",
        "Convert this HTML to clean Markdown",
        "Pull all the links and email addresses from the website",
        "Get the table from https://example.com/stats as CSV",
        "Parse the HTML of these pages into JSON records",
        "Collect name, price and rating of each item on the saved shop pages",
        "从这个网页提取正文内容",
    ],
    "writing-documentation": [
        "Write a README for this project",
        "Create a getting started guide for new users",
        "Write a tutorial on how to install and set up the tool",
        "Document how to operate the backup process as a runbook",
        "Our user manual is outdated, please improve it",
        "Write onboarding documentation for new contributors",
        "Explain the architecture of this repository in an overview page",
        "给这个项目写一份使用手册",
    ],
    "summarizing-documents": [
        "Summarize this 40-page PDF",
        "Summarise this report",
        "Summarize report number 5",
        "Give me the key points of the attached research paper",
        "TL;DR of contract.txt",
        "Write an executive summary of annual-report.md",
        "Condense this article to one paragraph",
        "What are the main points of these three documents?",
        "Shorten this chapter to a half-page abstract",
        "总结一下这份文档的要点",
    ],
    "data-analysis-plan": [
        "Analyze sales.csv and find trends",
        "Is there a correlation between price and rating in this dataset?",
        "Evaluate the results of our A/B test",
        "Explore the survey data and report outliers",
        "Which charts and metrics should I use to compare these two groups?",
        "How should I analyze these server metrics statistically?",
        "Did the experiment make a significant difference?",
        "帮我做数据分析",
    ],
    "release-notes": [
        "Write the release notes for version 2.3",
        "Generate a changelog from the commits since v1.0",
        "What's new in this version? Write it for our users",
        "Draft the CHANGELOG entry for these merged pull requests",
        "Should the next version be a major or a minor release, given these changes?",
        "List the breaking changes and how to upgrade from v3 to v4",
        "announce the new features and bug fixes of release 5.1",
        "写一份 2.0 版本的更新日志",
    ],
    "meeting-notes": [
        "Turn this transcript into meeting minutes",
        "Extract the action items from yesterday's call",
        "Write up the notes of our stand-up",
        "Who agreed to do what in this meeting?",
        "Recap the project sync with decisions and owners",
        "Take the raw notes in meeting.txt and produce minutes with a follow-up email",
        "What was decided in the retrospective?",
        "整理这次会议的会议纪要",
    ],
    "decision-memo": [
        "Should we use Postgres or MongoDB? Compare the options and recommend one",
        "Write an ADR for choosing the message queue",
        "Weigh the pros and cons of building versus buying a CRM",
        "Help me decide which of these three vendors to pick",
        "Make a recommendation: hire a contractor or train the team",
        "Compare these alternatives and their trade-offs",
        "Prepare a business case with options for moving offices",
        "给我做一份技术选型的方案对比",
    ],
    "test-planning": [
        "Write a test plan for the login feature",
        "Which test cases do I need for this function?",
        "List the edge cases for the date parser",
        "Derive acceptance criteria and tests from this user story",
        "Make a QA checklist for the checkout flow",
        "Where are the gaps in our test coverage?",
        "Propose a testing strategy with unit and integration tests",
        "为登录功能设计测试用例",
    ],
    "debugging": [
        "Why does this script crash with a KeyError?",
        "Find the root cause of this stack trace",
        "My test is flaky, help me figure out why",
        "Debug the memory leak in the worker",
        "The app hangs on startup; diagnose the problem from app.log",
        "Fix the bug that makes the totals wrong",
        "Troubleshoot the exception in the attached log",
        "这个程序报错了，帮我排查原因",
    ],
    "skill-authoring": [
        "Create a SKILL.md for reviewing SQL migrations",
        "Turn this checklist into a reusable agent skill",
        "Why is my skill never selected? Improve its description",
        "Write a new skill for our commit message conventions",
        "Draft an agent skill that follows the Agent Skills format",
        "Shorten this SKILL.md",
        "Make a skill out of the procedure in process.md",
        "帮我编写一个新技能",
    ],
}

UNRELATED = [
    "Suggest a birthday present for my sister",
    "What is the capital of Mongolia?",
    "Plan a three-day trip to Lisbon",
    "Write a poem about autumn",
    "How many calories does a banana have?",
    "Compose a lullaby for guitar",
    "Find a recipe for vegetarian lasagna",
    "Train a neural network to recognise birds",
    "Deploy the container to Kubernetes",
    "Book a table for two tonight",
    "Draw a logo for a bakery",
    "Convert 12 miles to kilometres",
    "Tell me a joke",
    "今天北京天气怎么样",
    "推荐几首适合跑步的歌",
]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    nowhere = tmp_path_factory.mktemp("empty")
    return Registry(nowhere, env={}, home=nowhere)


@pytest.fixture(scope="module")
def chooser() -> SkillDetector:
    return detector()


def test_all_load_as_bundled_skills_without_a_warning(shipped: Registry) -> None:
    rows = shipped.list_skills(all=True)
    assert [row.name for row in rows] == [folder.name for folder in FOLDERS]
    assert {(row.source, row.state) for row in rows} == {("bundled", "active")}
    assert shipped.warnings == []


def test_the_skills_that_our_designs_name_are_there(shipped: Registry) -> None:
    named = "cataloging-apis code-review weekly-report-generator chinese-writing incremental-update hn-analysis"
    assert {*named.split(), "web-extraction"} <= {skill.name for skill in shipped.list_skills()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_keeps_to_the_specification(folder: Path) -> None:
    path = folder / "SKILL.md"
    text = path.read_text(encoding="utf-8")
    parsed = frontmatter.parse(text, path, folder=folder.name, strict=True)
    assert parsed.problems == ()
    assert parsed.name == folder.name
    assert len(parsed.description) <= frontmatter.DESCRIPTION_LIMIT
    assert len(text.splitlines()) < 500
    assert examine(folder) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_says_early_what_to_answer_and_takes_arguments_once(folder: Path) -> None:
    lines = (folder / "SKILL.md").read_text(encoding="utf-8").splitlines()
    body = lines[lines.index("---", 1) + 1 :]
    early = "\n".join(body[:40])
    assert PLACEHOLDER in early
    assert re.search(r"^## (?:Output|输出格式)$", early, re.MULTILINE)
    assert "\n".join(body).count(PLACEHOLDER) == 1
    assert re.search(r"^## (?:Example|示例)$", "\n".join(body), re.MULTILINE)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_files_beside_a_skill_are_those_that_it_speaks_of(folder: Path) -> None:
    body = (folder / "SKILL.md").read_text(encoding="utf-8")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"SKILL.md"}
    assert {name for name in there if name in body} == there
    assert set(re.findall(r"`(references/[\w.-]+)`", body)) == there


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_skills_refer_only_to_skills_that_ship(folder: Path) -> None:
    description = frontmatter.parse((folder / "SKILL.md").read_text(encoding="utf-8"), folder / "SKILL.md").description
    referred = set(re.findall(r"\bFor [^.]+? use ([a-z-]+)\.", description))
    assert referred <= {other.name for other in FOLDERS} - {folder.name}


def test_a_loaded_skill_has_its_arguments_filled(shipped: Registry) -> None:
    loaded = shipped.load_content("code-review", "src/pay.py, above all money")
    assert "(empty means everything given): src/pay.py, above all money" in loaded
    assert loaded.startswith(f"Base directory for this skill: {LIBRARY / 'code-review'}")
    assert PLACEHOLDER not in shipped.load_content("code-review")


def test_the_documentation_has_a_row_for_each_in_order() -> None:
    table = DOCUMENTATION.read_text(encoding="utf-8").split("## The skills that ship")[1]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == [folder.name for folder in FOLDERS]


def test_every_skill_has_goals_of_its_own() -> None:
    assert set(GOALS) == {folder.name for folder in FOLDERS}
    assert all(len(set(goals)) >= 8 for goals in GOALS.values())


@pytest.mark.parametrize(("name", "goal"), [(name, goal) for name, goals in GOALS.items() for goal in goals])
def test_a_goal_selects_the_skill_that_is_made_for_it(
    name: str, goal: str, shipped: Registry, chooser: SkillDetector
) -> None:
    found = chooser.detect(goal, shipped.list_skills())
    assert [selection.name for selection in found][:1] == [name], [(one.name, one.score) for one in found]


@pytest.mark.parametrize("goal", UNRELATED)
def test_a_goal_of_another_kind_selects_nothing(goal: str, shipped: Registry, chooser: SkillDetector) -> None:
    assert chooser.detect(goal, shipped.list_skills()) == []


def test_the_command_selects_from_the_library_in_any_folder(weft: Callable[..., Ran], tmp_path: Path) -> None:
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    ran = weft("skills", "select", "Review my pull request", "--json", "--workspace", str(empty))
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out)["selected"][0]["name"] == "code-review"
