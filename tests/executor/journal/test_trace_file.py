"""Events are written to traces and read back, and malformed traces are refused."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.journal import trace_file
from goalwright_executor.stores.row import VERSION, Row
from goalwright_planner import events
from goalwright_planner.events import ApprovalAsked, ApprovalGiven, ToolStarted, decode, to_dict
from goalwright_planner.model import Message, Reply, ToolCall, Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Item, ResultCheck, Task
from goalwright_skills.errors import InputError
from goalwright_skills.image_file import Image
from goalwright_skills.selection.detector import Selection
from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from goalwright_planner.events import Event

CALL = ToolCall("c", "ReadFile", '{"path": "x"}')
EARLIER = events.EarlierRun("r0", "g0", "partial", "answer", (events.EarlierOutput("a", "t", "text"),))
EVENTS: list[Event] = [
    events.ModelLoading("openai/x", "litellm"),
    events.ModelLoaded("openai/x", "litellm", 3.5),
    events.RunStarted("r", "g", "/w", {"model": "m"}, "Monday", ("s",), ("f",), ("a",), "p", {"goalwright": "1"}),
    events.RunStarted("r", "g", "/w", {}, after=EARLIER),
    events.RunResumed("r", {}),
    events.CatalogueTaken((events.SkillPrint("s", "d", "b"),), "<a/>", "<b/>"),
    events.SkillsSelected("ranked", (Selection("s", 0.5, "why"), Selection("t", 0.9, "why", certain=True)), 3),
    events.CatalogueTaken((), "<a/>", "<b/>", task="research"),
    events.SkillsSelected("ranked", (), 3, "research"),
    events.PlanRefused(1, ("fault",), task="research"),
    events.PlanMade(Plan((Task("a", "goal", instruction="i", most_tasks=2, max_cost=0.5),)), 1),
    events.PromptMade("task", "a", {"goal": "g"}),
    events.CallStarted(
        "task", "a", "m", (Message("assistant", "x", (CALL,)), Message("tool", "y", (), "c")), ("t",), "k"
    ),
    events.CallRetried("task", "a", "m", 1, 0.5, "slow"),
    events.CallBroken("task", "a", "m", Usage(1, 2, 3, 0, 1), 0.1, "it ended early", "k"),
    events.CallFinished("task", "a", "m", Reply("t", (CALL,), Usage(1, 2, 3, 4), 0.1, "stop", "m"), 1.5, "k"),
    events.CallFailed("task", "a", "m", "no", 1.0, "k"),
    events.TextStreamed("task", "a", "t"),
    events.PlanRefused(1, ("fault",)),
    events.PlanMade(Plan((Task("a", "llm", output_schema={"type": "string"}, check=ResultCheck("?"), model="m"),)), 1),
    events.PlanRefused(1, ("fault",), 2),
    events.ReplanAsked("otherwise"),
    events.PlanMade(Plan((Task("a", "llm", instruction="i", when={"ask": "?"}, for_each=(1, "x"), first=2),), "s"), 1),
    events.PlanChanged(
        "for_each", "a", (Task("a[1]", "llm", instruction="i", item=Item({"n": None})),), ("b",), {"b": "c"}, "s", "why"
    ),
    events.ConditionChecked("a", "<<b.count>> > 0", True, "<<b.count>> is 2"),
    events.ConditionChecked("a", {"ask": "Is it?"}, False, "it is not"),
    events.TaskStarted("a", "h"),
    events.TaskReused("a", "o", "run r"),
    events.SkillLoaded("a", "s", "text"),
    events.SkillShortened("a", "s", ("Example", "Steps (in part)"), 900),
    events.PlanMade(Plan((Task("a", "llm", instruction="i"),), unused={"s": "why"}), 1),
    events.PlanChanged("replan", None, (), ("b",), unused={"s": "why"}),
    events.ResultChecked("a", 1, False, "why"),
    events.FileRead("a", "/w/f.md", "0" * 64, 9, 2, (events.FilePart(1, "text"),)),
    events.ToolCalled("a", "t", failure("NOT_FOUND", "m", Context("/w", {"a": 1}, "/w/x")).to_dict(), "k"),
    events.FileKept("a", "tables/x.md", "0" * 64, "text"),
    events.ImagesGiven((Image("x.png", "image/png", "0" * 64, 70, 1, 1, "/w/x.png"),), {"/w/y.png": "it is cut off"}),
    ApprovalAsked("k#1", "a", "tool", "t", {"path": ["x"]}, "t(x)", "2026-01-01T00:00:00.000000Z"),
    ApprovalGiven("k#1", "edit", "why", {"path": "y"}, "cli", "", "a", "t"),
    ToolStarted("a", "t", "k#1"),
    events.ToolLogged("t", "chatter", "stderr", 0, 0.1),
    events.TaskFinished("a", "done", 1.0, "o", None),
    events.TurnSummarised(1, "what it came to"),
    events.EarlierOutputRead(1, "survey", "a list"),
    events.TurnTakenBack(2),
    events.Warned("w"),
    events.AnswerChecked("hash", ("it lacks the field 'x'",)),
    events.AnswerJudged("openai/judge", (Message("user", "Does it hold?"),), Reply("no"), "hash"),
    events.RunTagged(("baseline", "to review")),
    events.RunNoted("the one for the report"),
    events.RunFinished("done", "a", None, None, 2.0, data={"rows": [1, [2]]}),
    events.RunFinished("done", "[1]", None, None, 2.0, data=[1, [2]]),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_a_trace_line(event: Event) -> None:
    body = to_dict(event)
    row = Row("r", 7, "2026-01-01T00:00:00.000000Z", body.pop("type"), body)
    (line,) = trace_file.lines([row])
    assert list(json.loads(line))[:5] == ["v", "run_id", "seq", "at", "type"]
    back = trace_file.parse(line, "here")
    assert (back.run_id, back.seq, back.at, back.type) == (row.run_id, row.seq, row.at, row.type)
    assert decode(back.type, back.body) == event


def test_every_event_type_is_tested() -> None:
    shown_only = {events.CallProgressed, events.ToolOutput, events.ToolReported}
    assert {type(event) for event in EVENTS} == set(events.Event.__subclasses__()) - shown_only


def test_an_unknown_type_is_ignored() -> None:
    assert decode("moon_landed", {}) is None


@pytest.mark.parametrize(
    ("kind", "body"),
    [("task_started", {}), ("plan_made", {"plan": {"tasks": [{}]}, "attempts": 1}), ("call_finished", {"reply": None})],
)
def test_malformed_events_are_refused(kind: str, body: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"'{kind}' is malformed"):
        decode(kind, body)


def test_an_envelope_survives_json() -> None:
    envelope = failure("TIMEOUT", "m", Context("/w", {"a": 1}, "/w/x"), time_ms=5)
    assert Envelope.from_dict(envelope.to_dict()) == envelope


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[]", "not an event"),
        ('{"type": "warned"}', "not an event"),
        (json.dumps({"v": VERSION + 1, "run_id": "r", "seq": 1, "at": "", "type": "warned"}), "newer goalwright"),
    ],
)
def test_lines_that_are_no_events_are_refused_with_their_place(line: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        trace_file.parse(line, "file x, line 3")
    assert "file x, line 3" in caught.value.message


PLACE = {"v": VERSION, "run_id": "r", "seq": 1, "at": "2026-01-01T00:00:00Z"}
STARTED = {"run_id": "r", "goal": "g", "workspace": "/w", "settings": {}}
CALLED = {"role": "task", "task": "a", "model": "m", "seconds": 1.0}
LOOP = [{"id": one, "action_type": "llm", "depends_on": [other]} for one, other in ("ab", "ba")]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"run_id": "../../src"}, "at `$.run_id`"),
        ({"run_id": "."}, "at `$.run_id`"),
        ({"run_id": ""}, "at `$.run_id`"),
        ({"run_id": 7}, "at `$.run_id`"),
        ({"seq": 0}, ">= 1 - at `$.seq`"),
        ({"seq": "1"}, "at `$.seq`"),
        ({"seq": True}, "at `$.seq`"),
        ({"at": "yesterday"}, "RFC3339 encoded datetime - at `$.at`"),
        ({"at": "2026-01-01T00:00:00"}, "timezone component - at `$.at`"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "out of range"),
        ({"v": "1"}, "at `$.v`"),
        ({"type": ["warned"]}, "at `$.type`"),
        ({"type": "warned", "message": 7}, "Expected `str`, got `int` - at `$.message`"),
        ({"type": "warned"}, "message"),
        (
            {"type": "task_finished", "task": "a", "status": "sleeping", "seconds": 1},
            "Invalid enum value 'sleeping' - at `$.status`",
        ),
        ({"type": "run_started", **STARTED, "answers": [1]}, "at `$.answers[0]`"),
        ({"type": "tool_called", "task": "a", "name": "t", "envelope": {}}, "'envelope'"),
        ({"type": "call_finished", **CALLED, "reply": {"text": "", "usage": {"prompt_tokens": 10**30}}}, "'usage'"),
        ({"type": "call_finished", **CALLED, "reply": {"text": "", "cost": -3.0}}, "'cost' is not between 0 and"),
        ({"type": "call_finished", **CALLED, "reply": {"text": "", "cost": 1e308}}, "'cost' is not between 0 and"),
        ({"type": "call_broken", **CALLED, "usage": {"completion_tokens": -1}, "cost": None, "error": "e"}, "'usage'"),
        ({"type": "plan_made", "plan": {"tasks": LOOP}, "attempts": 1}, "depend on each other"),
        ({"type": "plan_made", "plan": {"tasks": LOOP[:1]}, "attempts": 1}, "depends on 'b', which is not in it"),
        ({"type": "plan_made", "plan": {"tasks": [LOOP[0], LOOP[0]]}, "attempts": 1}, "have the same id"),
    ],
)
def test_edited_lines_are_refused_with_their_faults(fields: dict[str, object], says: str) -> None:
    line = json.dumps(PLACE | {"type": "moon_landed"} | fields)
    with pytest.raises(InputError) as caught:
        trace_file.parse(line, "line 3")
    assert says in caught.value.message
    assert "line 3" in caught.value.message


@pytest.mark.parametrize("text", ["[" * 100_000, '{"v": NaN}'])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not JSON"):
        trace_file.parse(text, "line 3")


def test_an_infinite_number_is_refused() -> None:
    line = json.dumps(PLACE | {"type": "task_finished", "task": "a", "status": "done", "seconds": 12345})
    with pytest.raises(InputError, match="not JSON: Number out of range"):
        trace_file.parse(line.replace("12345", "1e999"), "line 3")


@pytest.mark.parametrize("at", ["2026-01-02t01:30:00.5z", "2026-01-02 03:30:00.5+02:00", "2026-01-02T01:30:00.500000Z"])
def test_times_are_normalized(at: str) -> None:
    line = json.dumps(PLACE | {"type": "warned", "message": "m", "at": at})
    assert trace_file.parse(line, "line 1").at == "2026-01-02T01:30:00.500000Z"


def test_unknown_fields_and_types_are_kept_in_the_row() -> None:
    row = trace_file.parse(json.dumps(PLACE | {"type": "warned", "message": "m", "mood": "calm"}), "line 1")
    assert row.body["mood"] == "calm"
    assert trace_file.parse(json.dumps(PLACE | {"type": "moon_landed", "by": 2}), "line 1").type == "moon_landed"


@pytest.mark.parametrize("numbers", [(1, 1), (1, 2, 1), (1, 2, 3, 2)])
def test_events_out_of_order_are_refused(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    file = tmp_path / "run.jsonl"
    lines = [json.dumps(PLACE | {"seq": seq, "type": "warned", "message": "m"}) for seq in numbers]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=f"line {len(numbers)}: event {numbers[-1]} of run r comes after"):
        list(trace_file.read(file))


def written(file: Path, events: Iterable[tuple[str, int, str]]) -> Path:
    """Write a trace of (run, seq, type), with blank lines."""
    rows = [PLACE | {"run_id": run, "seq": seq, "type": kind, "message": "m"} for run, seq, kind in events]
    file.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


WHOLE = [("r", seq, "warned" if seq % 3 else "tool_log") for seq in range(1, 9)]
OTHER = ("s", 1, "warned")


@pytest.mark.parametrize("types", [(), ("warned",)])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (WHOLE[1:], "line 1: run r is incomplete: 1 event before its event 2 is missing"),
        ([*WHOLE[:3], *WHOLE[4:]], "line 7: run r is incomplete: 1 event before its event 5 is missing"),
        ([*WHOLE[:3], *WHOLE[6:]], "line 7: run r is incomplete: 3 events before its event 7 are missing"),
        ([*WHOLE, ("s", 3, "warned")], "line 17: run s is incomplete: 2 events before its event 3 are missing"),
        ([*WHOLE[:3], OTHER, *WHOLE[3:]], "line 9: run r appears twice, or its events are not consecutive"),
    ],
)
def test_gaps_are_refused_also_if_only_some_types_are_read(
    tmp_path: Path, given: list[tuple[str, int, str]], says: str, types: tuple[str, ...]
) -> None:
    file = written(tmp_path / "run.jsonl", given)
    with pytest.raises(InputError, match=f"^{re.escape(f'{file}, {says}')}$"):
        list(trace_file.read(file, types))
    named = trace_file.TraceFile(file, "the trace")
    with pytest.raises(InputError, match=f"^the trace, {re.escape(says)}$"):
        list(trace_file.read(named, types))


@pytest.mark.parametrize("types", [(), ("warned",)])
def test_several_and_unfinished_runs_are_read(tmp_path: Path, types: tuple[str, ...]) -> None:
    other = [("s", seq, kind) for _, seq, kind in WHOLE]
    file = written(tmp_path / "run.jsonl", [*WHOLE[:5], *other, ("t", 1, "warned")])
    read = [(row.run_id, row.seq) for row in trace_file.read(file, types)]
    assert read[-1] == ("t", 1)
    assert len(read) == (14 if not types else 11)
