"""A run as a page: it shows everything that went wrong, and nothing in a trace becomes markup or script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.web import page_script
from goalwright.interfaces.web.trace_page import render
from goalwright_executor.stores.row import Row
from goalwright_skills.errors import InputError
from tests.needs import needs_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

EVIL = "<script>alert(1)</script><img src=x>"
ATTACKS = [
    EVIL,
    "</title><script>alert(1)</script>",
    "</pre></details></style><style>* { display: none }</style>",
    """" onmouseover="alert(1)" x=' onclick='alert(2)' `""",
    'done; background: url(//evil.example)" style="color: red',
    "javascript:alert(1) <a href=javascript:alert(1)>x</a> <iframe srcdoc=x>",
    "&lt;script&gt; &#60;script&#62; <!-- <![CDATA[",
    "{{ 7 * 7 }}{% raw %}{{ cycler.__init__.__globals__ }}{# <b> #}",
    "\x00\x1b]0;x\x07\u202e",
]
DATA = '<script type="application/json" id="runs">'
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
STARTED = ("run_started", {"run_id": "r", "goal": "the goal", "workspace": "w", "settings": {}})
PLANNED = ("plan_made", {"plan": PLAN, "attempts": 1})


@pytest.fixture(scope="module", autouse=True)
def script_joined_once() -> Iterator[None]:
    """Join the page's modules once, not for each page, which takes a tenth of a second."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page_script, "script", cache(page_script.script))
        yield


def page(*events: tuple[str, dict[str, Any]]) -> str:
    """The page as a browser without scripts shows it."""
    return plain(render([list(_rows(events))]))


def plain(page: str) -> str:
    """A page without its data and its script, which are the last two elements of it."""
    shown, data, rest = page.partition(DATA)
    assert rest.count("<script") == 1
    assert (data, rest.count("</script>"), rest.endswith("</script>\n</html>\n")) == (DATA, 2, True)
    return shown


def _rows(events: Iterable[tuple[str, dict[str, Any]]]) -> Iterable[Row]:
    for seq, (kind, body) in enumerate(events, start=1):
        yield Row("r", seq, f"2026-01-01T10:00:{seq:02}.000000Z", kind, body)


class Markup(HTMLParser):
    """The tags, attributes and comments that a browser finds in a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.comments: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile(text: str) -> str:
    """A page whose every text is this one."""
    call = {"role": "task", "task": text, "model": text}
    message: dict[str, Any] = {"role": "user", "content": text, "tool_calls": [], "tool_call_id": None}
    envelope = {"status": text, "data": {}, "text": text, "context": {"cwd": "", "params_input": {"x": text}}}
    return page(
        ("run_started", {"run_id": text, "goal": text, "workspace": "w", "settings": {}}),
        (
            "skills_selected",
            {"selections": [{"name": text, "score": 1.0, "reason": text}], "detector": text, "available": 1},
        ),
        ("plan_refused", {"attempt": 1, "faults": [text]}),
        ("plan_made", {"plan": {"tasks": [{"id": "a", "title": text, "action_type": "llm"}]}, "attempts": 1}),
        ("call_started", call | {"messages": [message]}),
        ("call_retried", call | {"attempt": 1, "wait": 1.0, "reason": text}),
        ("call_failed", call | {"error": text, "seconds": 1.0}),
        ("call_finished", call | {"reply": REPLY | {"text": text}, "seconds": 1.0}),
        ("tool_called", {"task": "a", "name": text, "envelope": envelope}),
        ("task_started", {"task": "a", "inputs": ""}),
        ("task_finished", {"task": "a", "status": "failed", "seconds": 1.0, "error": text}),
        ("warned", {"message": text}),
        ("run_finished", {"status": "partial", "answer": text, "error": text, "question": text, "seconds": 1.0}),
    )


def test_nothing_in_a_trace_becomes_markup() -> None:
    shown = hostile(EVIL)
    assert shown.count("&lt;script&gt;") > 15
    assert set(re.findall(r"<(\w+)", shown)) <= {
        "html", "meta", "title", "style", "h1", "h2", "p", "ul", "li", "div", "table", "tr", "th", "td", "br", "small",
        "mark", "pre", "details", "summary",
    }  # fmt: skip
    assert "<script" not in shown
    assert "default-src 'none'" in shown


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_trace_has_the_markup_of_a_harmless_one(attack: str) -> None:
    """The same tags in the same order and no other attributes; all of the attack is text."""
    shown, harmless = Markup(hostile(attack)), Markup(hostile("harmless"))
    assert shown.tags == harmless.tags
    assert shown.comments == []
    assert [name for name, _ in shown.attributes] == [name for name, _ in harmless.attributes]
    assert shown.attributes == harmless.attributes
    arguments = json.dumps(attack, ensure_ascii=False)  # a tool's, which the page shows as JSON
    assert shown.text == harmless.text.replace('"harmless"', arguments).replace("harmless", attack)


def test_invalid_status_is_refused() -> None:
    with pytest.raises(InputError, match=r"task_finished.*Invalid enum value '<script>"):
        page(STARTED, PLANNED, ("task_finished", {"task": "a", "status": EVIL, "seconds": 1.0}))


def test_nothing_in_a_trace_is_rendered_as_a_template() -> None:
    assert "7006652" not in hostile("{{ 1234 * 5678 }}")
    assert "{{ 1234 * 5678 }}" in hostile("{{ 1234 * 5678 }}")


def test_failed_and_skipped_tasks_show_the_reason() -> None:
    shown = page(
        STARTED,
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
        "<small>it depends on &#39;a&#39;</small>",
        "a: retried after 2.0 s: busy",
        "a: call failed: too long",
        "<h2>Answer</h2><pre>half</pre>",
        "<h2>Error</h2><pre>b is missing</pre>",
    ):
        assert text in shown


def test_a_refused_plan_a_warning_and_a_question_are_shown() -> None:
    shown = page(
        STARTED,
        ("warned", {"message": "the model is small"}),
        ("plan_refused", {"attempt": 1, "faults": ["no tasks", "no json"]}),
        ("run_finished", {"status": "waiting", "answer": None, "question": "Which service?", "seconds": 1.0}),
    )
    assert "warning: the model is small" in shown
    assert "plan refused: no tasks; no json" in shown
    assert "<h2>Question</h2><pre>Which service?</pre>" in shown
    assert "<h2>Answer</h2>" not in shown
    assert "Critical path" not in shown


def test_a_reply_says_how_long_it_took_and_whether_it_was_truncated() -> None:
    finished = {"role": "decomposer", "task": None, "model": "m", "seconds": 2.04}
    shown = page(STARTED, ("call_finished", finished | {"reply": REPLY}))
    assert "decomposer: answered after 2.0 s (1,200 + 7 tokens)" in shown
    assert "(1,200 + 7 tokens, truncated)" in page(
        STARTED, ("call_finished", finished | {"reply": REPLY | {"finish": "length"}})
    )


def test_a_tool_call_is_shown_with_its_arguments() -> None:
    envelope = {"status": "success", "data": {}, "text": "2 words", "context": {"cwd": "", "params_input": {"t": "é"}}}
    shown = page(STARTED, PLANNED, ("tool_called", {"task": "a", "name": "words_count", "envelope": envelope}))
    assert "<summary>a: tool words_count: success</summary><pre>{&#34;t&#34;: &#34;é&#34;}\n\n2 words</pre>" in shown


def test_the_page_is_named_after_its_goal_or_the_number_of_runs() -> None:
    one = list(_rows([STARTED]))
    assert "<title>goalwright: the goal</title>" in render([one])
    assert "<title>goalwright: 2 runs</title>" in render([one, one])


@pytest.mark.parametrize("attack", ATTACKS)
def test_script_data_cannot_close_its_element(attack: str) -> None:
    events = [("run_started", {"run_id": "r", "goal": attack, "workspace": "w", "settings": {}})]
    _, _, rest = render([list(_rows(events))]).partition(DATA)
    data = rest.partition("</script>")[0]
    assert not set("<>&") & set(data)
    assert json.loads(data)[0]["rows"][0]["goal"] == attack


def test_only_our_own_script_may_run() -> None:
    shown = render([list(_rows([STARTED]))])
    script = shown.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'; base-uri 'none'" in shown
    assert "fetch(" in script  # it is the page's own code, which has nobody to ask here: the policy allows no request
    assert "connect-src" not in shown


@needs_node
def test_script_has_valid_syntax(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text(page_script.script(), encoding="utf-8")
    checked = subprocess.run(["node", "--check", tmp_path / "page.js"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
