"""Runs with a scripted model and a real journal, for tests of what comes after a run."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from goalwright.runs.runtime import Goalwright
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.strict_replay import Replay, strict
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import url_of
from goalwright_planner.model import Reply, Request, ToolCall
from tests.conftest import add_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_executor.stores.row import Row
    from goalwright_executor.stores.store import Store
    from tests.fakes import ScriptedModel

GOAL = "Write the API documentation of the to-do service"
# A goal whose skill is selected without certainty, so that a plan may leave it out.
UNSURE_GOAL = "Look at the endpoints of the to-do service"
SKILL = "tabulating-endpoints"
TEXT = f"""---
name: {SKILL}
description: Write the API documentation of a service. Tabulates its endpoints with parameters and answers.
---
# Tabulating

List every endpoint in a table. Focus on: $ARGUMENTS
"""
SURVEY = {"id": "survey", "action_type": "skill", "name": SKILL, "instruction": "List them"}
NOTES = {"id": "notes", "action_type": "llm", "instruction": "Read the notes"}
BRIEF = {
    "id": "brief",
    "action_type": "llm",
    "instruction": "Brief: <<survey.output>>",
    "depends_on": ["survey", "notes"],
}
_NAMED = re.compile(
    r"\bskill '|\bskills are selected|\btask '|\btasks are in"
    r"|\bprompt of (detector|planning|plan change \d|synthesis|task ')"
)
PLAN = {"tasks": [SURVEY, NOTES, BRIEF], "synthesis": "short"}


def prepare(workspace: Path) -> Path:
    """Put the skill that the plan uses and the file that `notes` reads into a workspace; gives the skill's file."""
    (workspace / "notes.md").write_text("the notes", encoding="utf-8")
    return add_skill(workspace, SKILL, TEXT) / "SKILL.md"


def answering(request: Request) -> Reply:
    """A plan, tasks that say their name and what they were told (`notes` after it read a file), an answer."""
    if request.role == "decomposer":
        return Reply(json.dumps(PLAN), cost=0.01)
    if request.role == "synthesis":
        return Reply("the answer", cost=0.01)
    if request.task == "notes" and request.messages[-1].role != "tool":
        call = ToolCall("c1", "ReadFile", json.dumps({"path": "notes.md"}))
        return Reply("", (call,), cost=0.01, finish="tool_calls")
    said = request.messages[1].content.rpartition("<task>\n")[2].partition("\n</task>")[0]
    return Reply(f"{request.task} did: {said}", cost=0.01)


def failing(*tasks: str, error: Exception) -> Callable[[Request], Reply | Exception]:
    """The same, but some tasks fail."""
    return lambda request: error if request.task in tasks else answering(request)


def goalwright(workspace: Path, model: ScriptedModel, **settings: Any) -> Goalwright:
    """A runtime with that model under every name."""
    settings = {"allow_unknown_cost": True, **settings}  # nobody lists what it costs
    return Goalwright(workspace, Settings(model="scripted", **settings), open_model=lambda _: model)


def store(workspace: Path) -> Store:
    """The workspace's journal."""
    return open_store(url_of(workspace / ".agents" / "journal.sqlite"), create=False)


def rows(workspace: Path, run: str = "last") -> list[Row]:
    """A run's rows."""
    opened = store(workspace)
    try:
        return list(opened.rows(opened.find(run).run_id))
    finally:
        opened.close()


async def replayed(workspace: Path, recorded: list[Row]) -> Replay:
    """A strict replay in a workspace; whatever drift it finds names the skill, the task or the prompt."""
    replay = await strict(recorded, Paths.of(workspace, os.environ), Settings())
    assert [one.what for one in replay.drift if not _NAMED.search(one.what)] == []
    return replay
