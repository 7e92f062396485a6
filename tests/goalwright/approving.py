"""A workspace with a tool that needs approval, and a model that calls it: for tests of what waits for a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.model import Reply, Request, ToolCall
from tests.fakes import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

GOAL = "Note three things"
MANIFEST = """
name: note_write
description: Note a text in the run's notes, one line for each, at most a thousand characters. Used by tests alone.
runtime: python
entry: main.py
writes: true
parameters:
  - {name: text, type: string, required: true, description: "The text, one line. Example: buy milk"}
  - {name: seconds, type: number, default: 0, description: "How long it takes after it noted. Example: 0.5"}
"""
PROGRAM = """
import json, os, pathlib, sys, time
given = json.loads(sys.stdin.readline())["arguments"]
with (pathlib.Path(os.environ["GOALWRIGHT_ARTIFACTS"]) / "notes.txt").open("a") as notes:
    notes.write(given["text"] + "\\n")
time.sleep(given["seconds"])
print(json.dumps({"output": "noted " + given["text"], "error": ""}))
"""
ASKING = ({"tool": "note_*", "decision": "ask"},)
NOTES = {"id": "notes", "action_type": "llm", "instruction": "Note them"}


def prepare(workspace: Path) -> None:
    """Put the tool `note_write` into a workspace."""
    folder = workspace / "skills" / "note"
    folder.mkdir(parents=True)
    (folder / "skill.yaml").write_text(MANIFEST, encoding="utf-8")
    (folder / "main.py").write_text(PROGRAM, encoding="utf-8")


def calling(*texts: str, plan: dict[str, Any] | None = None) -> ScriptedModel:
    """A model that plans one task, whose model notes all texts at once and then says what came back."""

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps(plan or {"tasks": [NOTES]}))
        if request.role == "synthesis":
            return Reply("the answer")
        results = [json.loads(one.content) for one in request.messages if one.role == "tool"]
        if results or request.task != "notes":
            return Reply(f"{request.task}: " + ", ".join(one["text"] for one in results))
        calls = [ToolCall(f"c{n}", "note_write", json.dumps({"text": text})) for n, text in enumerate(texts)]
        return Reply("", tuple(calls), finish="tool_calls")

    return ScriptedModel(script)


def goalwright(workspace: Path, model: ScriptedModel, **settings: Any) -> Goalwright:
    """A runtime in which calls of the tool ask a person first, unless other settings are given."""
    from goalwright_executor.approvals.policy import ApprovalRule

    rules = settings.pop("approvals", ASKING)
    rules = tuple(ApprovalRule.of(rule, number) for number, rule in enumerate(rules, 1))
    runtime = Goalwright(workspace, Settings(model="scripted", approvals=rules, **settings), open_model=lambda _: model)
    runtime.workspace.tools.trust_all()
    return runtime


def noted(workspace: Path, result: Result) -> list[str]:
    """What the tool noted in a run, in any order."""
    file = workspace / ".agents" / "runs" / result.run_id / "artifacts" / "notes.txt"
    return sorted(file.read_text(encoding="utf-8").splitlines()) if file.exists() else []
