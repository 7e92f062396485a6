"""A run as a page: everything that went wrong is on it, and nothing in a trace becomes markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from executor.stores.row import Row
from weft.traces.html_page import render

if TYPE_CHECKING:
    from collections.abc import Iterable

EVIL = "<script>alert(1)</script><img src=x>"
PLAN = {
    "tasks": [
        {"id": "a", "title": "Look around", "action_type": "llm"},
        {"id": "b", "action_type": "llm", "depends_on": ["a"]},
    ]
}
REPLY: dict[str, Any] = {
    "text": "t", "tool_calls": [], "usage": {"calls": 1, "prompt_tokens": 1200, "completion_tokens": 7},
    "cost": 0.1, "finish": "stop", "model": "m",
}  # fmt: skip
BEGUN = ("run_started", {"run_id": "r", "goal": "the goal", "workspace": "w", "settings": {}})
PLANNED = ("plan_made", {"plan": PLAN, "attempts": 1})


def page(*events: tuple[str, dict[str, Any]]) -> str:
    return render([list(_rows(events))])


def _rows(events: Iterable[tuple[str, dict[str, Any]]]) -> Iterable[Row]:
    for seq, (kind, body) in enumerate(events, start=1):
        yield Row("r", seq, f"2026-01-01T10:00:{seq:02}.000000Z", kind, body)


def test_nothing_that_a_trace_holds_becomes_markup() -> None:
    call = {"role": "task", "task": EVIL, "model": EVIL}
    message: dict[str, Any] = {"role": EVIL, "content": EVIL, "tool_calls": [], "tool_call_id": None}
    envelope = {"status": EVIL, "data": {}, "text": EVIL, "context": {"cwd": "", "params_input": {"x": EVIL}}}
    shown = page(
        ("run_started", {"run_id": EVIL, "goal": EVIL, "workspace": "w", "settings": {}}),
        (
            "skills_selected",
            {"selections": [{"name": EVIL, "score": 1.0, "reason": EVIL}], "detector": EVIL, "available": 1},
        ),
        ("plan_refused", {"attempt": 1, "faults": [EVIL]}),
        ("plan_made", {"plan": {"tasks": [{"id": "a", "title": EVIL, "action_type": "llm"}]}, "attempts": 1}),
        ("call_started", call | {"messages": [message]}),
        ("call_retried", call | {"attempt": 1, "wait": 1.0, "reason": EVIL}),
        ("call_failed", call | {"error": EVIL, "seconds": 1.0}),
        ("call_finished", call | {"reply": REPLY | {"text": EVIL}, "seconds": 1.0}),
        ("tool_called", {"task": "a", "name": EVIL, "envelope": envelope}),
        ("task_started", {"task": "a", "inputs": ""}),
        ("task_finished", {"task": "a", "status": EVIL, "seconds": 1.0, "error": EVIL}),
        ("warned", {"message": EVIL}),
        ("run_finished", {"status": EVIL, "answer": EVIL, "error": EVIL, "question": EVIL, "seconds": 1.0}),
    )
    assert shown.count("&lt;script&gt;") > 15
    assert set(re.findall(r"<(\w+)", shown)) <= {
        "html", "meta", "title", "style", "h1", "h2", "p", "ul", "li", "div", "table", "tr", "th", "td", "br", "small",
        "mark", "pre", "details", "summary",
    }  # fmt: skip
    assert "<script" not in shown
    assert "default-src 'none'" in shown


def test_a_failed_and_a_skipped_task_say_why() -> None:
    shown = page(
        BEGUN,
        PLANNED,
        ("task_started", {"task": "a", "inputs": ""}),
        ("call_retried", {"role": "task", "task": "a", "model": "m", "attempt": 1, "wait": 2.0, "reason": "busy"}),
        ("call_failed", {"role": "task", "task": "a", "model": "m", "error": "too long", "seconds": 1.0}),
        ("task_finished", {"task": "a", "status": "failed", "seconds": 1.0, "error": "it was too long"}),
        ("task_finished", {"task": "b", "status": "skipped", "seconds": 0.0, "error": "it depends on 'a'"}),
        ("run_finished", {"status": "partial", "answer": "half", "error": "b is missing", "seconds": 2.0}),
    )
    for text in (
        "<td>a (failed)<br><small>Look around</small><br><small>it was too long</small>",
        "<small>it depends on &#x27;a&#x27;</small>",
        "a: asked again after 2.0 s: busy",
        "a: no answer: too long",
        "<h2>Answer</h2><pre>half</pre>",
        "<h2>Error</h2><pre>b is missing</pre>",
    ):
        assert text in shown


def test_a_refused_plan_a_warning_and_a_question_are_shown() -> None:
    shown = page(
        BEGUN,
        ("warned", {"message": "the model is small"}),
        ("plan_refused", {"attempt": 1, "faults": ["no tasks", "no json"]}),
        ("run_finished", {"status": "clarification", "answer": None, "question": "Which service?", "seconds": 1.0}),
    )
    assert "warning: the model is small" in shown
    assert "the plan was refused: no tasks; no json" in shown
    assert "<h2>Question</h2><pre>Which service?</pre>" in shown
    assert "<h2>Answer</h2>" not in shown
    assert "Critical path" not in shown


def test_an_answer_says_how_long_it_took_and_whether_it_was_cut_off() -> None:
    finished = {"role": "decomposer", "task": None, "model": "m", "seconds": 2.04}
    shown = page(BEGUN, ("call_finished", finished | {"reply": REPLY}))
    assert "decomposer: answered after 2.0 s (1,200 + 7 tokens)" in shown
    assert "(1,200 + 7 tokens, cut off)" in page(
        BEGUN, ("call_finished", finished | {"reply": REPLY | {"finish": "length"}})
    )


def test_a_tool_is_shown_with_what_it_was_asked() -> None:
    envelope = {"status": "success", "data": {}, "text": "2 words", "context": {"cwd": "", "params_input": {"t": "é"}}}
    shown = page(BEGUN, PLANNED, ("tool_called", {"task": "a", "name": "words_count", "envelope": envelope}))
    assert (
        "<summary>a: tool words_count: success</summary><pre>{&quot;t&quot;: &quot;é&quot;}\n\n2 words</pre>" in shown
    )


def test_the_page_is_named_after_its_goal_or_the_number_of_runs() -> None:
    one = list(_rows([BEGUN]))
    assert "<title>weft: the goal</title>" in render([one])
    assert "<title>weft: 2 runs</title>" in render([one, one])
