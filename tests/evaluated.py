"""A scripted model for evaluations, which answers by the task's skill and acts as a judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.openai_server import Answer, Call, Say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SKILL = "polite-letters"
TEXT = """---
name: polite-letters
description: Write polite letters. Use for every letter to a customer.
---
# Polite letters

Begin with a greeting.
"""


def schema_of(call: Call) -> dict[str, Any]:
    """Return the response schema of a request."""
    form = call.body.get("response_format") or {}
    schema: dict[str, Any] = form.get("json_schema", {}).get("schema", {})
    return schema


def is_judge(call: Call) -> bool:
    return "passed" in schema_of(call).get("properties", {}) or "<expectation>" in call.user


def is_pairwise(call: Call) -> bool:
    return "<first_answer>" in call.user


def part(call: Call, tag: str) -> str:
    """Return the text between two tags of a prompt."""
    return call.user.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def goal_of(call: Call) -> str:
    return part(call, "goal")


def answering(
    answer: Callable[[str, str], str], judge: Callable[[Call], str] | None = None, pairwise: str = "neither"
) -> Callable[[Call], Answer]:
    """Return a script that plans one task, with the skill if selected, and answers from goal and skill."""

    def script(call: Call) -> Answer:
        if is_pairwise(call):
            return Say(json.dumps({"better": pairwise, "why": "so"}))
        if is_judge(call):
            return Say(judge(call) if judge else json.dumps({"passed": True, "evidence": part(call, "answer")}))
        if call.role == "decomposer":
            uses = f"<name>{SKILL}</name>" in call.system
            task = {"id": "write", "action_type": "skill" if uses else "llm", "instruction": goal_of(call)}
            return Say(json.dumps({"tasks": [task | ({"name": SKILL} if uses else {})]}))
        return Say(answer(goal_of(call), call.system))

    return script


def write_cases(path: Path, *cases: dict[str, Any]) -> Path:
    """Write cases as JSON lines."""
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return path


def letters(count: int, *, start: int = 0) -> list[dict[str, Any]]:
    """Return cases that pass if the letter has a greeting."""
    return [
        {"id": f"letter-{number}", "goal": f"Write a letter to customer {number}", "checks": [{"contains": "Dear"}]}
        for number in range(start, start + count)
    ]
