"""What tasks and the answer read of other tasks: outputs, statuses, counts and items, in whatever text it stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goalwright_planner.events import Warned
from tests.goalwright.runs.adaptive import REFUSED, Adaptive, Answers, llm, outputs, planned, statuses

if TYPE_CHECKING:
    from pathlib import Path

LIST = json.dumps(["red", "green", "blue"])


@pytest.fixture
def adaptive(workspace: Path) -> Adaptive:
    """A workspace in which plans are run."""
    return Adaptive(workspace)


async def test_references_to_status_count_and_items_are_filled_in(adaptive: Adaptive) -> None:
    each = llm("each", "files", instruction="Paint <<item>>", for_each="<<files.output>>")
    text = "<<files.count>> files, <<each.count>> of <<each.status>>; [<<each[2].output>>] <<each[3].status>>"
    plan = planned(llm("files"), each, llm("end", "each", instruction=text), synthesis="Say <<each[1].output>> first.")
    result = await adaptive.run(plan, {"files": LIST, "each[3]": REFUSED})
    assert outputs(result)["end"] == "3 files, 2 of done; [Paint green done] failed done"
    asked = adaptive.model.asked[-1].messages[-1].content
    assert "Say Paint red done first." in asked
    result = await adaptive.resume({"end": "again"})
    assert outputs(result)["end"] == "again", "an item that ends otherwise is another input"


async def test_checks_lists_and_questions_may_contain_references(adaptive: Adaptive) -> None:
    each = llm("each", "files", instruction="Paint <<item>>", for_each="<<files.output>>")
    over = llm("over", "each", instruction="Use <<item>>", for_each="<<each[1].output>>")
    check = llm("check", "each", check={"ask": "It has <<each.count>> colours."})
    legal = llm("legal", "each", when={"ask": "Are <<files.count>> enough, <<each[1].status>>?"})
    answers = {"files": LIST, "each[1]": '["a", "b"]', "check": '{"holds": true, "why": "yes"}'}
    answers["when legal"] = '{"holds": true, "why": "yes"}'
    result = await adaptive.run(planned(llm("files"), each, over, check, legal), dict(answers))
    assert outputs(result)["over[2]"] == "Use b done"
    said = [request.messages[-1].content for request in adaptive.model.asked]
    assert any("It has 3 colours." in text for text in said)
    assert any("Are 3 enough, done?" in text for text in said)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<<files.count>>", "<<files.count>> cannot be read: it is prose, not a list"),
        ("<<each[4].output>>", "<<each[4].output>> cannot be read: 'each' has 2 items, and the first is [1]"),
        ("<<each[1].output>>", "<<each[1].output>> cannot be read: 'each[1]' has no result: not now"),
        ("<<each[4].status>>", "<<each[4].status>> cannot be read: 'each' has 2 items, and the first is [1]"),
    ],
)
async def test_a_missing_reference_fails_the_task(adaptive: Adaptive, text: str, says: str) -> None:
    each = llm("each", "names", instruction="Greet <<item>>", for_each="<<names.output>>")
    plan = planned(llm("files"), llm("names"), each, llm("end", "files", "each", instruction=text))
    answers: Answers = {"files": "There are many files. None of them matters.", "names": "Ann\nBob", "each[1]": REFUSED}
    result = await adaptive.run(plan, answers)
    assert statuses(result)["end"] == "failed"
    (error,) = (task.error for task in result.tasks if task.id == "end")
    assert says in (error or "")


async def test_the_answer_names_unreadable_references(adaptive: Adaptive) -> None:
    plan = planned(llm("a"), synthesis="Give <<a.count>> lines.")
    result = await adaptive.run(plan, {"a": "It is a long story. Nobody counts it."})
    assert result.status == "done"
    assert "[<<a.count>> cannot be read: it is prose" in adaptive.model.asked[-1].messages[-1].content
    warned = [event.message for event in adaptive.record.events if isinstance(event, Warned)]
    assert any("<<a.count>> cannot be read" in message for message in warned)
