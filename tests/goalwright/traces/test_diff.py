"""Two runs compared, whatever their tasks are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.traces.diff import compare
from goalwright.traces.timeline import timeline
from goalwright_executor.stores.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

SURVEY = {"id": "survey", "action_type": "llm", "instruction": "Look around"}
BRIEF = {"id": "brief", "action_type": "llm", "instruction": "Sum up <<survey.output>>", "depends_on": ["survey"]}
RENAMED = SURVEY | {"id": "overview"}
AFTER = BRIEF | {"instruction": "Sum up <<overview.output>>", "depends_on": ["overview"]}
EXTRA = {"id": "extra", "action_type": "llm", "instruction": "Something else"}


def rows(*tasks: dict[str, Any]) -> Iterator[Row]:
    def row(seq: int, kind: str, **body: Any) -> Row:
        return Row("r", seq, "2026-01-01T00:00:00.000000Z", kind, body)

    yield row(1, "run_started", run_id="r", goal="g", workspace="w", settings={})
    yield row(2, "plan_made", plan={"tasks": list(tasks)}, attempts=1)
    for seq, task in enumerate(tasks, start=3):
        yield row(seq, "task_finished", task=task["id"], status="done", output="the same")


def differences(a: tuple[dict[str, Any], ...], b: tuple[dict[str, Any], ...]) -> list[str]:
    return [str(one) for one in compare(timeline(rows(*a)), timeline(rows(*b)))]


def test_run_does_not_differ_from_itself() -> None:
    assert differences((SURVEY, BRIEF), (SURVEY, BRIEF)) == []


def test_renamed_task_is_matched_by_content() -> None:
    renamed, plan = differences((SURVEY, BRIEF), (RENAMED, AFTER))
    assert renamed == "survey  renamed: survey → overview"
    assert plan.startswith("brief  plan: line 3 was ")
    assert "overview.output" in plan


def test_task_in_only_one_run_is_reported() -> None:
    assert differences((SURVEY,), (SURVEY, EXTRA)) == ["extra  only in the second"]
    assert differences((SURVEY, EXTRA), (SURVEY,)) == ["extra  only in the first"]
