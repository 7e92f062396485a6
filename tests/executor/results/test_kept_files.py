"""The files of a task that later prompts list."""

from __future__ import annotations

from pathlib import Path

from goalwright_executor.results.kept_files import KeptFiles
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task


def kept(*tasks: str) -> KeptFiles:
    """A file of each of these tasks, in the order in which they wrote it."""
    files = KeptFiles()
    for task in tasks:
        row = {"path": f"{task}.md", "bytes": 1, "sha256": "0"}
        files.note(task, {"status": "success", "data": {"artifacts": [row]}})
    return files


def named(files: KeptFiles, task: str, plan: Plan) -> list[str]:
    lines = files.below(task, plan, Path("/run")).splitlines()
    return [line.removeprefix("- /run/").removesuffix(".md") for line in lines if line.startswith("- ")]


def test_files_of_subtasks_belong_to_parent_in_plan_order() -> None:
    grown = ("goal", "goal/list", "goal/each", "goal/each[1]", "goal/each[2]", "goal/each[2]#2", "goal#2", "goal#2/x")
    plan = Plan(tuple(Task(name, "llm") for name in ("other", *grown)))
    files = kept("goal#2/x", "goal/each[2]#2", "goal/each[2]", "other", "goal/each[1]", "goal/list", "gone")
    inside = ["goal/list", "goal/each[1]", "goal/each[2]", "goal/each[2]#2", "goal#2/x"]
    assert named(files, "goal", plan) == inside
    assert named(files, "goal/each", plan) == inside[1:4]
    assert (named(files, "other", plan), named(files, "goal/list", plan)) == (["other"], ["goal/list"])
    assert named(files, "nothing", plan) == []
