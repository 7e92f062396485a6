"""Recorded scenarios of plans that adapt: forms, checks, approvals, changes, sub-goals, streams."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.openai_server import Answer, Call, Fail, Say, Script, in_turn, instruction
from tests.recorded_scenarios import MODEL, Scenario, Step, answers, llm, plan, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

# A plan is streamed up to here, and the rest later, so that the tasks before it start early.
LATE_TASK = '"id": "late"'
NAMED = {"GOALWRIGHT_MODELS": "fast=openai/fast-model"}
ASKING = {"GOALWRIGHT_APPROVE": "all"}
ROWS = {
    "type": "object",
    "properties": {
        "base": {"type": "string"},
        "rows": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["path"]}},
    },
    "required": ["base", "rows"],
}
FORMED = plan(
    llm("find", output_schema=ROWS, model="fast"),
    llm("use", "find", instruction="Call <<find.output.rows[0].path>> at <<find.output.base>>",
        check={"ask": "It names a path.", "tries": 1}),
    llm("count", "find", action_type="tool", name="word_count", arguments={"text": "<<find.output.base>>"}),
    llm("never", "find", when='<<find.output.base>> is empty'),
    llm("each", "find", instruction="Try <<item.path>>", for_each="<<find.output.rows>>", output_schema=ROWS),
    synthesis="all",
)  # fmt: skip
FOUND = '{"rows": [{"path": "/todos"}, {"path": "/gone"}], "base": "http://localhost"}'
SENT = plan(
    llm("draft"),
    llm("send", "draft", instruction="Send <<draft.output>>", needs_approval="Send it to everybody?"),
    llm("post", "draft", needs_approval=True),
    llm("log", "post"),
    synthesis="all",
)
ITEMS = plan(llm("each", instruction="Do <<item>>", for_each=["one", "two", "three"], width=1), synthesis="s")
REPLANNED = plan(
    llm("sheet", action_type="tool", name="excel_read", arguments={"path": "gone.xlsx"}),
    llm("notes"),
    llm("say", "sheet", "notes", instruction="Say <<sheet.output>>"),
)
DOUBTED = plan(llm("look"), llm("act", "look"), synthesis="s")
NESTED = plan(
    llm("scope"), llm("research", "scope", action_type="goal", instruction="Research it", most_tasks=3), synthesis="s"
)
RESEARCH = plan(llm("sources"), llm("sum", "sources", instruction="Sum up <<sources.output>>"), synthesis="short")
GROWN = plan(llm("one"), llm("two", "one"), llm("late", "two"), synthesis="s")
UNSURE = plan(llm("one"), llm("two"), llm("late", "one", instruction="Use <<nothing.output>>"), synthesis="s")
SURE = plan(llm("one"), llm("late", "one"), synthesis="s")

ENDPOINTS = [{"name": name, "state": state} for name, state in (("one", "open"), ("two", "shut"), ("three", "open"))]
IN_ROUNDS = plan(
    llm("draft", repeat={"until": '<<draft.output>> contains "good"', "most": 4}),
    llm("never", repeat={"until": {"ask": "Is <<never.output>> done?"}, "most": 2}),
    llm("mend", "never", instruction="Mend <<never.output>>", when='<<never.status>> == "failed"'),
    llm("each", "draft", instruction="Take <<item.name>>", when='<<item.state>> == "open"',
        for_each=ENDPOINTS,
        width=1, repeat={"until": '<<each.output>> contains "again"', "most": 2}),
    llm("whole", action_type="goal", instruction="Plan it", needs_approval=True,
        repeat={"until": '<<whole.output>> contains "second"', "most": 3}),
    synthesis="all",
)  # fmt: skip
PART = plan(llm("part"))


def change(*added: dict[str, Any], **rest: Any) -> str:
    """Return a plan change as a model writes it."""
    return json.dumps({"add": added, "drop": [], "rewire": {}, "synthesis": None, "give_up": None, **rest})


def formed() -> Script:
    """A result that is valid at the second attempt, one that is checked twice, and an item that fails."""
    listed = json.dumps({"base": "x", "rows": [{"path": "y"}]})
    refused = Fail(400, "this request is not allowed")
    named = {
        "Do find": in_turn(Say('Here it is: {"base": 5}'), Say(FOUND)),
        "Try /todos": in_turn(Say(listed)),
        "Try /gone": in_turn(refused),
    }
    verdicts = in_turn(Say('{"holds": false, "why": "no path"}'), Say('{"holds": true, "why": "it does"}'))
    others = answers(FORMED, task=tasks(named))
    return lambda call: verdicts(call) if call.role == "checker" else others(call)


def calling(*calls: tuple[str, dict[str, Any]], of: str = "Do notes") -> Script:
    """A task that makes calls at once and then reports their results."""

    def task(call: Call) -> Answer:
        if call.tool_results or instruction(call) != of:
            return Say("; ".join(one["status"] for one in call.tool_results) or f"did: {instruction(call)}")
        return Say(tool_calls=calls)

    return task


def in_rounds() -> Script:
    """Tasks whose condition holds in the second round, later, and never."""
    named = {
        "Do draft": in_turn(Say("bad"), Say("better"), Say("good")),
        "Take one": in_turn(Say("again")),
        "Take three": in_turn(Say("no"), Say("no")),
        "Do part": in_turn(Say("first"), Say("second")),
    }
    return answers(IN_ROUNDS, PART, PART, task=tasks(named), condition='{"holds": false, "why": "it is not"}')


def moving() -> Script:
    """A task that writes, moves and deletes a file."""
    write = ("WriteFile", {"path": "workspace:short-lived.md", "content": "x\n"})
    move = ("MoveFile", {"path": "workspace:short-lived.md", "to": "workspace:kept/moved.md"})
    delete = ("DeleteFile", {"path": "workspace:kept/moved.md"})
    turns = in_turn(*(Say(tool_calls=(one,)) for one in (write, move, delete)), Say("did: Do notes"))
    return answers(plan(llm("notes")), task=tasks({"Do notes": turns}))


def given(**decisions: str) -> Step:
    """Resume with decisions, by task or by the path of a call."""

    def arguments(document: Mapping[str, Any]) -> tuple[str, ...]:
        asked = {(row["arguments"] or {}).get("path", row["task"]): row["id"] for row in document["waiting"]}
        flags = ((f"--{decisions[name]}", one) for name, one in asked.items() if name in decisions)
        return ("resume", str(document["run_id"]), *(part for flag in flags for part in flag))

    return Step(arguments)


def adapting() -> list[Scenario]:
    """Return the runs whose plans fan out, wait, change and grow."""
    guessed = change(llm("guess"), rewire={"sheet": "guess"})
    doubt = ("PlanIsWrong", {"reason": "there is nothing to act on"})
    writes = ("WriteFile", {"path": "workspace:made.md", "content": "# Made\n"})
    edits = ("EditFile", {"path": "workspace:made.md", "old": "Made", "new": "Edited"})
    denied = ("WriteFile", {"path": "workspace:denied.md", "content": "no\n"})
    notes = answers(plan(llm("notes")), task=calling(writes, denied))
    edited = answers(plan(llm("notes")), task=calling(edits))
    read = (("ReadFile", {"path": "notes.md"}), ("Grep", {"pattern": "GET", "path": "."}))
    return [
        Scenario("[formed]", "partial", formed(), (*MODEL, "--trust"), env=NAMED),
        Scenario("[approved]", "waiting", answers(SENT), then=(given(send="approve", post="deny") >> "partial",)),
        Scenario("[waits]", "waiting", answers(SENT), then=(given(post="approve") >> "waiting",)),
        Scenario("[asked]", "waiting", answers(plan(llm("notes")), task=calling(*read)), env=ASKING,
                 then=(given(**{"notes.md": "approve", ".": "deny"}) >> "done",)),
        Scenario("[write]", "waiting", notes, (*MODEL, "--write"), then=(
            given(**{"workspace:made.md": "approve", "workspace:denied.md": "deny"}) >> "done",)),
        Scenario("[edit]", "done", edited, (*MODEL, "--write", "--approve-all")),
        Scenario("[moved]", "done", moving(), (*MODEL, "--write", "--approve-all")),
        Scenario("[rounds]", "waiting", in_rounds(), goal="Look at each endpoint that is open, until all are right",
                 then=(given(whole="approve") >> "waiting", given(**{"whole#2": "approve"}) >> "partial")),
        Scenario("[replanned]", "done", answers(REPLANNED, change=guessed)),
        Scenario("[doubted]", "done", answers(
            DOUBTED, task=calling(doubt, of="Do look"), change=change(llm("instead", "look"), drop=["act"]))),
        Scenario("[changed]", "partial", answers(REPLANNED, change=guessed), (*MODEL, "--max-replans", "0"), then=(
            Step(lambda one: ("replan", str(one["run_id"]), "Guess the numbers")) >> "done",)),
        Scenario("[goal]", "done", answers(NESTED, RESEARCH)),
        Scenario("[streamed]", "done", answers(GROWN)),
        Scenario("[unsure]", "done", answers(UNSURE, SURE)),
        Scenario("[cached]", "done", answers(plan(llm("facts"))), (*MODEL, "--cache", "1"), goal="Do it"),
        Scenario("[cached]", "done", answers(plan(llm("facts"))), (*MODEL, "--cache", "1"), goal="Do it"),
    ]  # fmt: skip
