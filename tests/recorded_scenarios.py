"""The scenarios that `tests.record_version` records: workspace files, and runs with scripted answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.image_bytes import png
from tests.openai_server import Answer, Call, Fail, Say, Script, in_turn, instruction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GOAL = "Look at the endpoints of the to-do service"
MODEL = ("--model", "openai/test-model")
SMALL = ("--model", "lm_studio/qwen2.5:0.5b")
# Seconds until an answer; runs are stopped or killed before it.
LATE = 60.0

FILES: dict[str, str | bytes] = {
    "shots/chart.png": png(64, 48),
    "notes.md": "# Notes\n\nGET /todos lists, POST /todos adds, DELETE /todos/{id} removes.\n",
    "skills/tabulating-endpoints/SKILL.md": """---
name: tabulating-endpoints
description: Write API documentation. Tabulates the endpoints of a service with parameters and answers.
---
# Tabulating

List every endpoint in a table. Keep {{braces}} and <<marks>> as they are. Focus on: $ARGUMENTS
""",
    "skills/writing-briefs/SKILL.md": """---
name: writing-briefs
description: Write a one-page brief from results.
---
# Briefs

One page, the conclusion first.
""",
    "skills/word/skill.yaml": """name: word_count
description: Count the words of a text, up to a million of them.
runtime: python
entry: main.py
parameters:
  - {name: text, type: string, required: true, description: "The text, at most a million words. Example: one two"}
  - {name: times, type: integer, default: 1, description: "How often to count, 1 by default. Example: 2"}
""",
    "skills/word/main.py": """import json, sys
request = json.loads(sys.stdin.readline())
text = request["arguments"]["text"]
print("counting", file=sys.stderr)
print(json.dumps({"output": {"words": len(text.split()) * request["arguments"]["times"]}, "error": ""}))
""",
}


def llm(task: str, *after: str, **rest: Any) -> dict[str, Any]:
    """Return a model task."""
    return {"id": task, "action_type": "llm", "instruction": f"Do {task}", "depends_on": list(after), **rest}


def plan(*tasks: dict[str, Any], **rest: Any) -> str:
    """Return a plan as a model writes it."""
    return json.dumps({"tasks": tasks, **rest})


SURVEY = {
    "id": "survey", "title": "Survey", "action_type": "skill", "name": "tabulating-endpoints",
    "instruction": "Tabulate the endpoints", "arguments": "the verbs",
}  # fmt: skip
BRIEF = llm("brief", "survey", "notes", instruction="Brief: <<survey.output>>")
SKILLED = plan(SURVEY, llm("notes"), BRIEF, synthesis="short")
COUNT = {
    "id": "count", "action_type": "tool", "name": "word_count", "instruction": "Do count",
    "arguments": {"text": "one two three", "times": 2},
}  # fmt: skip
COUNTED = plan(COUNT, llm("say", "count", instruction="Say <<count.output>>"))
UNCOUNTABLE = plan(COUNT | {"arguments": {"text": "one", "times": "<<n.output>>"}, "depends_on": ["n"]}, llm("n"))
CHAIN = plan(llm("one"), llm("two", "one"), llm("three", "two"), synthesis="s")
PAIR = plan(llm("a"), llm("b", "a"))
FAULTY = plan(
    llm("a", "zz"),
    llm("a"),
    llm("b", action_type="skill", name="tabulating"),
    llm("c", action_type="tool", name="word_counts", arguments={}),
    llm("d", instruction="<<b.output>>"),
    llm("e", action_type="dance"),
)
BROKEN = plan(
    llm("good"), llm("bad", title="The bad part"), llm("after", "bad"), llm("last", "after", "good"), synthesis="all"
)
LONG = plan(
    llm("l1"), llm("l2"), llm("sum", "l1", "l2"), llm("in", "l1", instruction="Use <<l1.output>> here"), synthesis="s"
)
# Refused by earlier versions, which then get the next plan.
ALIASES = (
    '{"plan": {"steps": [{"task_id": 1, "type": "LLM", "description": "Do a", "priority": "high"},'
    ' {"task_id": 2, "type": "llm", "prompt": "Do b", "dependencies": "1"}]}}'
)
YAML = (
    "Here is the plan:\n```yaml\ntasks:\n  - id: a\n    action_type: llm\n    instruction: Do a\n"
    "  - id: b\n    action_type: llm\n    instruction: 'Do b: all of it'\n    depends_on: [a]\n```\n"
)
PYTHON = (
    "{'tasks': [{'id': 'a', 'action_type': 'llm', 'instruction': \"Do a\", 'name': None},"
    " {'id': 'b', 'action_type': 'llm', 'instruction': 'Do b', 'depends_on': ['a',]}], 'synthesis': None}"
)
TYPO = plan(llm("a"), llm("b", waits_for=["a"]))
ADAPTIVE = plan(
    llm("files"),
    llm(
        "review", "files", title="Review", instruction="Review <<item>>", for_each="<<files.output>>", width=2, first=3
    ),
    llm("fix", "review", instruction="Fix <<item.number>>: <<item>>", for_each="<<review.output>>"),
    llm("never", "files", when="<<files.count>> < 3"),
    llm("retry", "review", when='<<review.status>> == "failed" or <<review.output>> contains "review b"'),
    llm("legal", "review", when={"ask": "Does this name a person: <<review.output>>?"}),
    llm("end", "never", "fix", "legal", "retry", when='<<retry.status>> != "failed"'),
    synthesis="all",
)
SMALL_PLAN = json.dumps(
    {
        "tasks": [
            {"id": "t1", "use": "tabulating-endpoints", "instruction": "Tabulate.", "depends_on": []},
            {"id": "t2", "use": "no skill", "instruction": "Sum up.", "depends_on": ["t1"]},
        ]
    }
)
UNUSED = plan(llm("a"), llm("b", "a"), unused={"writing-briefs": "two lines are enough"})
LOOKING = plan(llm("look", instruction="Describe shots/chart.png"), llm("title", "look"))
PICKED = '{"skills": [{"name": "tabulating-endpoints", "reason": "it tabulates endpoints"}]}'


def obey(call: Call) -> Answer:
    """Answer a task with its instruction."""
    return Say(f"did: {instruction(call)}")


def answers(
    *plans: str,
    task: Script = obey,
    synthesis: str = "The endpoints, in a table.",
    condition: str = '{"holds": true, "why": "so it is"}',
    change: str = '{"give_up": "nothing else is known"}',
) -> Script:
    """Answer with plans in order, and tasks by script or with their instruction."""
    planner = in_turn(*map(Say, plans))

    def script(call: Call) -> Answer:
        match call.role:
            case "decomposer":
                return planner(call)
            case "task":
                return task(call)
            case "condition":
                return Say(condition)
            case "replanner":
                return Say(change)
            case _:
                return Say(synthesis)

    return script


def tasks(named: Mapping[str, Script]) -> Script:
    """Answer some tasks by script, the others with their instruction."""
    return lambda call: named.get(instruction(call), obey)(call)


def conversation() -> Script:
    """A task that calls tools of every kind, also with errors."""
    calls: list[tuple[tuple[str, dict[str, Any] | str], ...]] = [
        (("ReadFile", {"path": "notes.md"}), ("ListFiles", {"path": "."})),
        (("Skill", {"name": "writing-briefs", "args": "short"}), ("Nothing", {}), ("ReadFile", "not json")),
        (("ReadFile", {"path": "gone.md"}), ("word_count", {"text": "one two"})),
    ]
    return tasks({"Do notes": in_turn(*(Say(tool_calls=one) for one in calls), Say("did: Do notes"))})


def making() -> Script:
    """A task that writes files and runs code, and one that gets the list of files."""
    calls: list[tuple[tuple[str, dict[str, Any] | str], ...]] = [
        (("WriteFile", {"path": "draft.md", "content": "# Draft\n"}), ("Grep", {"pattern": "todos", "glob": "*.md"})),
        (("EditFile", {"path": "draft.md", "old": "Draft", "new": "Done"}), ("python_run", {"code": "print(6 * 7)"})),
        (("WriteFile", {"path": "workspace:notes.md", "content": "no"}), ("ListFiles", {"path": ".", "glob": "*.md"})),
    ]
    return tasks({"Do notes": in_turn(*(Say(tool_calls=one) for one in calls), Say("did: Do notes"))})


def skilled() -> Script:
    """A plan with skills, and a conversation with tools."""
    return answers(SKILLED, task=conversation())


def broken() -> Script:
    """A plan with a task that fails."""
    refused = Fail(400, "this request is not allowed")
    return answers(BROKEN, task=tasks({"Do bad": lambda _: refused}), synthesis="Partly.")


def chain(late: str = "Do two", of: str = CHAIN) -> Script:
    """Three tasks in a row; one gets no answer."""
    return answers(of, task=tasks({late: lambda call: Say(f"did: {instruction(call)}", after=LATE)}))


def adaptive() -> Script:
    """A plan that fans out twice and branches; one item fails."""
    listed, refused = Say("- a\n- b\n- c\n- d"), Fail(400, "this request is not allowed")
    named = tasks({"Do files": lambda _: listed, "Review b": lambda _: refused})
    return answers(ADAPTIVE, task=named, condition='{"holds": false, "why": "it names nobody"}')


def empty() -> Script:
    """A model whose first answer is empty."""
    return answers(plan(llm("empty")), task=in_turn(Say(), Say(), Say("at last")))


def long() -> Script:
    """Results longer than a prompt may be."""

    def task(call: Call) -> Answer:
        return Say(f"word {instruction(call)[:12]} " * (1 if call.user.count("<result") else 600))

    return answers(LONG, task=task, synthesis="The answer.")


def denied(call: Call) -> Answer:
    """A model that refuses every call, and one that answers."""
    return Fail(403, "not you") if call.body["model"] == "test-model" else Say("by another")


def batch() -> Script:
    """The goals of the batch by tag, each with its own answers."""
    scripts = {"number 0": empty(), "number 1": broken(), "number 2": empty(), "number 3": chain(), "number 4": empty()}
    return lambda call: next(script for number, script in scripts.items() if number in call.user)(call)


@dataclass(frozen=True)
class Step:
    """A command after a run, built from the previous command's JSON, and its expected outcome."""

    arguments: Callable[[Mapping[str, Any]], tuple[str, ...]]
    status: str = "done"

    def __rshift__(self, status: str) -> Step:
        return replace(self, status=status)


@dataclass(frozen=True)
class Scenario:
    """A run to record, its expected outcome and its follow-up commands; the goal ends in the tag."""

    tag: str
    status: str
    script: Script
    arguments: tuple[str, ...] = MODEL
    env: Mapping[str, str] = field(default_factory=dict)
    goal: str = GOAL
    then: tuple[Step, ...] = ()


def scenarios() -> list[Scenario]:
    """Return the runs that end by themselves."""
    cut = Say("a piece\n```py\nx = 1\n", finish="length")
    busy = in_turn(Fail(503, "overloaded"), Fail(429, "slow down", {"retry-after": "0"}), Say("did: Do a"))
    listing = Say(tool_calls=(("ListFiles", {"path": "skills"}),))
    question = json.dumps({"tasks": [], "clarification": "Which service do you mean?"})
    small = (Say(SMALL_PLAN), Say("small answer"))
    return [
        Scenario("[skill]", "done", skilled(), (*MODEL, "--trust", "--file", "notes.md")),
        Scenario("[files]", "done", answers(plan(llm("notes"), llm("brief", "notes")), task=making()),
                 (*MODEL, "--tools", "python")),
        Scenario("[refused]", "done", answers("Here is my plan: first survey, then brief.", FAULTY, PAIR)),
        Scenario("[alias]", "done", answers(ALIASES, PAIR)),
        Scenario("[yaml]", "done", answers(YAML, PAIR)),
        Scenario("[python]", "done", answers(PYTHON, PAIR)),
        Scenario("[typo]", "done", answers(TYPO, PAIR)),
        Scenario("[partial]", "partial", broken()),
        Scenario("[adaptive]", "partial", adaptive()),
        Scenario("[long]", "done", long(), env={"GOALWRIGHT_INPUT_BUDGET": "3000"}),
        Scenario("[cut]", "done", answers(plan(llm("cut"), llm("fine", "cut")), task=lambda _: cut)),
        Scenario("[empty]", "done", empty()),
        Scenario("[limit]", "done", answers(plan(llm("loop")), task=in_turn(listing, listing, listing, Say("enough"))),
                 env={"GOALWRIGHT_TOOL_CALLS": "3"}),
        Scenario("[tool]", "done", answers(COUNTED), goal="Count words"),
        Scenario("[toolfail]", "partial", answers(UNCOUNTABLE, task=lambda _: Say("many")), goal="Count words"),
        Scenario("[clar]", "waiting", answers(question), goal="Do it"),
        Scenario("[answered]", "done", answers(PAIR), (*MODEL, "--answer", "The to-do service"), goal="Do it"),
        Scenario("[never]", "failed", answers("no plan today")),
        Scenario("[budget]", "stopped", answers(CHAIN, task=lambda _: Say("much", tokens=(9_000, 900))),
                 (*MODEL, "--max-tokens", "10000")),
        Scenario("[timeout]", "stopped", chain(), (*MODEL, "--timeout", "3")),
        Scenario("[busy]", "done", answers(PAIR, task=tasks({"Do a": busy}))),
        Scenario("[fallback]", "done", answers(PAIR, task=denied), (*MODEL, "--fallback", "openai/other-model")),
        Scenario("[small]", "done", in_turn(*small), SMALL),
        Scenario("refused [small]", "done", in_turn(Say("First I would tabulate."), *small), SMALL),
        Scenario("[detect]", "done", in_turn(Say(PICKED), Say(plan(SURVEY)), Say("did: Tabulate the endpoints")),
                 (*MODEL, "-c", "detector=llm")),
        Scenario("small [detect]", "done", in_turn(Say('{"skills": ["tabulating-endpoints"]}'), *small),
                 (*SMALL, "-c", "detector=llm")),
        Scenario("[tool] again", "done", answers(COUNTED), (*MODEL, "--skill", "writing-briefs")),
        Scenario("[image]", "done", answers(LOOKING), (*MODEL, "--file", "shots/chart.png"),
                 env={"GOALWRIGHT_VISION": "openai/test-model=true"}),
        Scenario("unseen [image]", "done", answers(LOOKING), (*MODEL, "--file", "shots/chart.png")),
        Scenario("[unused]", "done", answers(PAIR, UNUSED), (*MODEL, "--skill", "writing-briefs")),
    ]  # fmt: skip
