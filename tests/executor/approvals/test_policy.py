"""The policy: the first rule decides, floors only tighten, and without a rule the mode decides."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_executor.approvals.policy import ApprovalPolicy, ApprovalRule, Ruling, as_floors, stricter
from goalwright_skills.tools.effects import READ_ONLY, Effects, call_text, effects_of, preview_of

ARTIFACTS, WORKSPACE, OUTSIDE = Effects(), Effects("workspace"), Effects("outside", idempotent=True)


@pytest.mark.parametrize(
    ("mode", "asks"),
    [
        ("never", [False, False, False, False]),
        ("writes", [False, False, True, True]),
        ("all", [True, True, True, True]),
    ],
)
def test_mode_decides_when_no_rule_matches(mode: Any, asks: list[bool]) -> None:
    policy = ApprovalPolicy(mode)
    rulings = [policy.decide("t", effects) for effects in (READ_ONLY, ARTIFACTS, WORKSPACE, OUTSIDE)]
    assert rulings == [Ruling("ask" if ask else "allow") for ask in asks]


def test_first_matching_rule_decides() -> None:
    rules = (ApprovalRule("mcp__git_*", "deny"), ApprovalRule("mcp__*", "ask"), ApprovalRule("*", "allow"))
    policy = ApprovalPolicy("all", rules)
    assert policy.decide("mcp__git_push", OUTSIDE) == Ruling("deny", 1)
    assert policy.decide("mcp__web", READ_ONLY) == Ruling("ask", 2)
    assert policy.decide("MCP__web", OUTSIDE) == Ruling("allow", 3)
    assert policy.decide("note", OUTSIDE).by == "policy:3"


def test_floor_only_tightens() -> None:
    floors = as_floors((ApprovalRule("a*", "allow"), ApprovalRule("a1", "ask"), ApprovalRule("b", "deny")))
    policy = ApprovalPolicy("never", (ApprovalRule("a1", "deny"), ApprovalRule("b", "allow"), *floors))
    assert policy.decide("a1", ARTIFACTS).decision == "deny"
    assert policy.decide("b", ARTIFACTS).decision == "deny"
    assert policy.decide("a2", ARTIFACTS) == Ruling("allow")
    assert stricter("never", "writes") == stricter("writes", "never") == "writes"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("ask", "must be a table"),
        ({"tool": "x"}, "'decision' must be one of allow, ask, deny, not None"),
        ({"decision": "ask"}, "'tool' must be a tool's name"),
        ({"tool": "x", "decision": "maybe"}, "not 'maybe'"),
        ({"tool": "x", "decision": "ask", "when": "now"}, "unknown key 'when'"),
    ],
)
def test_rule_fault_is_reported_with_rule_number(row: object, says: str) -> None:
    with pytest.raises(ValueError, match="rule 2: ") as caught:
        ApprovalRule.of(row, 2)
    assert says in str(caught.value)


class _Writer:
    name = "file_write"
    description = "Write"
    parameters: dict[str, Any] = {}  # noqa: RUF012

    def effects(self, arguments: dict[str, Any]) -> Effects:
        return WORKSPACE if arguments["path"].startswith("workspace:") else ARTIFACTS

    def preview(self, arguments: dict[str, Any]) -> str:
        return f"+ {arguments['path']}"


def test_tool_reports_effects_and_preview_of_a_call() -> None:
    tool: Any = _Writer()
    assert effects_of(tool, {"path": "workspace:a"}).writes
    assert not effects_of(tool, {"path": "a"}).writes
    assert preview_of(tool, {"path": "a"}) == "+ a"
    assert call_text("t", {"text": "x" * 9_000}).endswith("… (9,015 characters)")
    assert (READ_ONLY.repeatable, OUTSIDE.repeatable, ARTIFACTS.repeatable) == (True, True, False)
