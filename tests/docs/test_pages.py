"""Compares the tables and examples of the documentation with the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from goalwright.interfaces.cli.execution import EXIT
from goalwright.interfaces.web.app import ROUTES
from goalwright.runs.plans import plan_file
from goalwright.settings import skill_lists
from goalwright.settings.settings import Settings
from goalwright_executor.history.result import Result, TaskReport
from goalwright_planner.model import Usage
from goalwright_planner.plan.known import Known
from goalwright_skills.discovery.locations import LIBRARY
from tests.openai_server import OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.nursery import Nursery

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [
    example
    for page in ("library", "approvals")
    for example in re.findall(r"```python\n(.*?)```", (ROOT / f"docs/{page}.md").read_text(encoding="utf-8"), re.DOTALL)
]
PLAN = {"tasks": [{"id": "notes", "action_type": "llm", "instruction": "write"}]}


@pytest.mark.parametrize("example", EXAMPLES)
def test_library_examples_work(
    example: str, workspace: Path, serve: Callable[[Script], OpenAIServer], nursery: Nursery
) -> None:
    serve(lambda call: Say('{"rivers": []}') if "<schema>" in call.user else scripted(PLAN)(call))
    code = example.replace("path/to/workspace", str(workspace)).replace('"code-review"', '"cataloging-apis"')
    ran = nursery.run_python(["-c", code], {**os.environ, "GOALWRIGHT_MODEL": "openai/test-model"}, workspace)
    assert ran.status == 0, ran.err
    assert "done" in ran.out or "RunFinished" in ran.out


def test_first_library_example_is_short() -> None:
    assert len(EXAMPLES[0].strip().replace("\n\n", "\n").splitlines()) <= 12


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda setting: str(setting.name))
def test_every_setting_is_documented_with_its_default_and_guard(setting: Field[object]) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{setting.name}` \| ([^|]+) \| .*?(?: (\**))? \|$", text, re.MULTILINE)
    assert row is not None
    default = str(setting.default).lower() if setting.default not in (None, ()) else "none"
    assert row[1] == {"conversation_tokens": "a quarter of the context"}.get(setting.name, default)
    guarded = setting.metadata["guarded"] or setting.name == skill_lists.REQUIRE
    assert (row[2] or "") == ("**" if setting.metadata["own"] else "*" if guarded else "")


def test_example_plans_are_valid() -> None:
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("plans.md", "adaptive-plans.md"))
    examples = re.findall(r"```yaml\n(.*?)```", pages, re.DOTALL)
    tools = {"ReadFile": {"properties": {"path": {"type": "string"}}, "required": ["path"]}}
    known = Known(["cataloging-apis", "code-review"], tools)
    found = [plan_file.parse(example, "in the documentation", known) for example in examples]
    assert [task.id for task in found[0].plan.tasks] == ["survey", "notes", "brief"]
    assert {type(task.when) for one in found for task in one.plan.tasks} == {type(None), str, dict}
    assert not any(one.repairs for one in found)


def test_json_fields_and_exit_statuses_are_documented() -> None:
    text = (ROOT / "docs" / "scripting.md").read_text(encoding="utf-8")
    usage, report = Usage(), TaskReport("a", "llm", None)
    result = Result("r", "done", "g", None, None, None, (), (report,), usage, None, None)
    for key in (*result.to_dict(), *report.to_dict(), *Usage.__struct_fields__):
        assert f'"{key}"' in text, f"docs/scripting.md lacks {key}"
    for status in EXIT:
        assert f"`{status}`" in text, f"docs/scripting.md lacks the status {status}"
    for number in {*EXIT.values(), 2, 3, 4}:
        assert f"\n| {number} |" in text, f"docs/scripting.md lacks the exit status {number}"


def test_messages_in_troubleshooting_exist_in_the_code() -> None:
    wings = ("skills", "planner", "executor", "goalwright")
    code = "\n".join(path.read_text(encoding="utf-8") for wing in wings for path in (ROOT / wing).rglob("*.py"))
    page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    parts = [part for message in messages for part in re.split(r"…|openai/|'a'|\$|\d+(?: skills fits)?", message)]
    assert len(messages) > 10
    assert [part for part in parts if part.strip() not in code] == []


def test_every_rule_of_the_check_is_documented() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "skills/goalwright_skills/check").glob("*.py"))
    page = (ROOT / "docs/executable-skills.md").read_text(encoding="utf-8")
    rules = set(re.findall(r'"((?:run|manifest|docs|error|description|parameter|body|file|name)-[a-z-]+)"', code))
    assert len(rules) > 15
    assert {rule for rule in rules if f"`{rule}`" not in page} == set()


def test_links_between_documents_exist() -> None:
    docs = ROOT / "docs"
    for path in (ROOT / "README.md", *docs.rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
            found = (path.parent / target).resolve()
            assert found.exists(), f"{path} links to {target}"
            # The site is built from docs/ alone: a link out of it fails the build.
            assert found.is_relative_to(docs if path.is_relative_to(docs) else ROOT), f"{path} links to {target}"


def test_counts_of_bundled_skills_and_examples_are_right() -> None:
    readme, skills = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/skills.md"))
    assert [len(list(LIBRARY.iterdir())), len([one for one in (ROOT / "examples").iterdir() if one.is_dir()])] == [
        17,
        9,
    ]
    assert "goalwright ships with seventeen" in readme
    assert "Seventeen skills" in skills


def test_every_route_is_documented() -> None:
    table = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8").partition("## HTTP")[2]
    last = {[part for part in route.path.split("/") if "{" not in part][-1] for route in ROUTES}
    assert [name for name in sorted(last) if not re.search(rf"/{name}\b", table)] == []


def test_every_template_is_documented() -> None:
    page = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
    agents = yaml.safe_load((ROOT / "seed" / "agents.yaml").read_text(encoding="utf-8"))["agents"].values()
    rows = dict(re.findall(r"^\| `([\w-]+\.j2)` \| .* \| ([^|]*) \|$", page.partition("## ")[0], re.MULTILINE))
    own = {agent["template"]: agent["needs"] for agent in agents if not agent["template"].endswith("-small.j2")}
    assert {name: re.findall(r"`(\w+)`", rows.get(name, "")) for name in own} == own


def test_every_page_is_in_the_readme_and_the_navigation() -> None:
    readme, site = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "mkdocs.yml"))
    for page in (ROOT / "docs").glob("*.md"):
        assert f"docs/{page.name})" in readme, f"README.md lacks {page.name}"
        assert page.name in site, f"mkdocs.yml lacks {page.name}"


def test_picture_of_the_readme_is_made_from_its_recorded_run(tmp_path: Path) -> None:
    pictures = ROOT / "docs" / "pictures"
    again = [
        sys.executable,
        "scripts/run-picture",
        "docs/pictures/terminal.jsonl",
        str(tmp_path / "it.svg"),
        "--at",
        "0.45",
    ]
    subprocess.run(again, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
    picture = (tmp_path / "it.svg").read_text(encoding="utf-8")
    assert picture == (pictures / "terminal.svg").read_text(encoding="utf-8")
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
    assert "docs/pictures/terminal.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
