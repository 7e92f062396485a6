"""Runs found, tagged and counted at the command line."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.goalwright.interfaces.web.test_find import RUN, fill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Ran

pytestmark = pytest.mark.changes_skills


def test_a_run_is_tagged_noted_found_counted_and_untagged(workspace: Path, goalwright: Callable[..., Ran]) -> None:
    fill(workspace)
    goalwright = partial(goalwright, cwd=workspace)
    assert json.loads(goalwright("trace", "tag", "last", "to review", "b", "--json").out) == {
        "run_id": RUN, "tags": ["b", "to review"], "note": "",
    }  # fmt: skip
    assert "for Ada" in goalwright("trace", "tag", RUN[:17], "--note", "for Ada").out
    (found,) = json.loads(
        goalwright("trace", "list", "ada", "LATENCY", "--tag", "b", "--since", "2025-01-01", "--json").out
    )
    assert (found["run_id"], found["tags"], found["note"], found["status"]) == (
        RUN,
        ["b", "to review"],
        "for Ada",
        "done",
    )
    assert goalwright("trace", "tag", "last", "--note", "-", stdin="two\nlines\n").out == f"{RUN}: two\nlines\n"
    assert json.loads(goalwright("trace", "list", "latency", "--status", "failed", "--json").out) == []
    assert "No run matches" in goalwright("trace", "list", "nowhere").err
    assert goalwright("trace", "tag", "last", "--remove", "b").out == f"{RUN}: to review\n"
    counted = json.loads(goalwright("trace", "stats", "--days", "366", "--json").out)
    assert [one["tag"] for one in counted["tags"]] in (["to review"], [])  # it may be older than that
    assert "runs" in goalwright("trace", "stats", "--days", "7").out


def test_wrong_usage_is_refused(workspace: Path, goalwright: Callable[..., Ran]) -> None:
    fill(workspace)
    goalwright = partial(goalwright, cwd=workspace)
    wrong = (
        ["list", "--since", "soon"],
        ["list", "--status", "odd"],
        ["tag", "nowhere", "a"],
        ["tag", RUN, "a\nb"],
        ["tag", RUN],
    )
    for arguments in wrong:
        refused = goalwright("trace", *arguments)
        assert refused.status == 2, arguments


def test_runs_are_listed_and_shown_with_the_paths_of_this_checkout(
    workspace: Path, goalwright: Callable[..., Ran]
) -> None:
    goalwright = partial(goalwright, cwd=workspace)
    (workspace / "notes.md").write_text(f"see {workspace}/other.md\n", encoding="utf-8")
    goal = f"Read {workspace}/notes.md"
    read = {"id": "read", "action_type": "tool", "name": "ReadFile", "arguments": {"path": "notes.md"}}
    (workspace / "plan.json").write_text(json.dumps({"goal": goal, "tasks": [read]}), encoding="utf-8")
    run = json.loads(goalwright("run", "--plan", "plan.json", "--json").out)
    (listed,) = json.loads(goalwright("trace", "list", "--json").out)
    shown = json.loads(goalwright("trace", "show", "--json").out)
    assert (listed["goal"], shown["goal"], shown["answer"]) == (goal, goal, run["answer"])
    assert f"{workspace}/other.md" in shown["answer"]
    assert "⟦" not in goalwright("trace", "show", "last", "--task", "read").out
    assert "⟦workspace⟧/other.md" in goalwright("trace", "export", "last").out
