"""A model that calls tools one after the other, for tests of what tools do in a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.model import Reply, Request, ToolCall
from tests.fakes import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

PLAN = {"tasks": [{"id": "look", "action_type": "llm", "instruction": "look"}]}


def model(*calls: tuple[str, dict[str, Any]], fail: bool = False) -> ScriptedModel:
    """A model that plans one task, which makes these calls and then answers with their results.

    With `fail`, it raises where it would answer.
    """

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps(PLAN))
        results = [json.loads(one.content) for one in request.messages if one.role == "tool"]
        if len(results) < len(calls):
            name, arguments = calls[len(results)]
            call = ToolCall(f"c{len(results)}", name, json.dumps(arguments))
            return Reply("", (call,), finish="tool_calls")
        if fail:
            raise RuntimeError("the process dies here")
        return Reply("; ".join(one["text"] for one in results) or "done")

    return ScriptedModel(script)


def goalwright(workspace: Path, scripted: ScriptedModel, **more: Any) -> Goalwright:
    """A runtime with this model."""
    return Goalwright(workspace, Settings(model="m", max_replans=0, **more), open_model=lambda _: scripted)
