"""Words may change from version to version: a strict replay names each change once, and a resume pays nothing again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, instruction, scripted

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
ROOT = Path(__file__).parents[2]
ROOTS = ("", "planner", "executor", "skills")
GOAL = "Write the API documentation of the to-do service"
PLAN = {"tasks": [
    {"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "Survey it"},
    {"id": "notes", "action_type": "llm", "instruction": "Take notes"},
    {"id": "brief", "action_type": "llm", "instruction": "Sum up", "depends_on": ["survey", "notes"]},
], "synthesis": "the brief"}  # fmt: skip
REFUSED = {"tasks": [{"id": "survey", "action_type": "skill", "name": "no-such-skill", "instruction": "Survey it"}]}
# A fault in a repeated planning request, a line of the listing, and a prompt of every task.
CHANGED = {
    "planner/goalwright_planner/plan/task_problems.py": ("there is no skill {name!r}", "no skill is called {name!r}"),
    "skills/goalwright_skills/discovery/listing.py": (
        'lines = ["<available_skills>", *(item.text(width)',
        'lines = ["<available_skills>", "Best first:", *(item.text(width)',
    ),
    "seed/task.j2": ("You carry out one task", "You do one task"),
}


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of goalwright with other words."""
    folder = tmp_path_factory.mktemp("another")
    for name in ("goalwright", "planner", "executor", "skills", "seed"):
        shutil.copytree(ROOT / name, folder / name)  # compiled modules too
    for name, (old, new) in CHANGED.items():
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has other words now: let this test change those"
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder


def with_other_words(nursery: Nursery, another: Path, *arguments: str, cwd: Path) -> Ran:
    """Run the copy in a fork, where litellm is the only thing that stays imported."""
    code = (
        "import runpy, sys\n"
        "ours = [name for name in sys.modules if name.partition('.')[0].startswith('goalwright')]\n"
        "kept = [sys.modules.pop(name) for name in ours]\n"  # to free them takes time
        f"sys.path[:0] = {[str(another / root) for root in ROOTS]!r}\n"
        "runpy.run_module('goalwright', run_name='__main__', alter_sys=True)"
    )
    env = {**os.environ, "GOALWRIGHT_MODEL": "openai/test-model"}
    return nursery.run_python(["-c", code, *arguments], env, cwd)


def refusing(task: Script | None = None) -> Script:
    """The first plan names a skill that does not exist."""
    plans = [REFUSED]
    usual = scripted(PLAN, task=task)

    def script(call: Call) -> Answer:
        return Say(json.dumps(plans.pop())) if call.role == "decomposer" and plans else usual(call)

    return script


def test_a_strict_replay_names_every_change_once_and_reaches_the_recorded_answer(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery, another: Path
) -> None:
    server = serve(refusing())
    ran = goalwright("run", "--json", "--model", "openai/test-model", GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    recorded = json.loads(ran.out)
    server.calls.clear()
    replayed = with_other_words(nursery, another, "replay", "--strict", recorded["run_id"], "--json", cwd=workspace)
    assert replayed.status == 3, replayed.err
    document = json.loads(replayed.out)
    assert [row["where"] for row in document["drift"]] == ["listing", "plan", "task 'notes', call 1"]
    fault, prompt = (row["what"] for row in document["drift"][1:])
    assert "answer 1 was refused" in fault
    assert "no skill is called 'no-such-skill'" in fault
    assert "You do one task" in prompt
    assert prompt.endswith("the same in 1 more prompt")
    assert (document["status"], document["answer"]) == ("done", recorded["answer"])
    assert document["tasks"] == recorded["tasks"]
    assert server.calls == []


@pytest.mark.changes_skills
def test_a_resume_after_the_change_pays_for_nothing_again(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery, another: Path
) -> None:
    """One task has called a tool and failed in the midst of its work; another one has not begun."""
    (workspace / "notes.md").write_text("the notes", encoding="utf-8")
    broken = True

    def task(call: Call) -> Answer:
        if instruction(call) != "Take notes":
            return Say(f"did: {instruction(call)}")
        if not any(message["role"] == "tool" for message in call.body["messages"]):
            return Say(tool_calls=(("ReadFile", {"path": "notes.md"}),))
        return Fail(400) if broken else Say("noted")

    server = serve(refusing(task))
    ran = goalwright("run", "--json", "--model", "openai/test-model", GOAL, cwd=workspace)
    assert json.loads(ran.out)["status"] in ("partial", "failed"), ran.err
    broken = False
    server.calls.clear()
    resumed = with_other_words(nursery, another, "resume", json.loads(ran.out)["run_id"], "--json", cwd=workspace)
    assert resumed.status == 0, resumed.err
    sent = [(call.role, instruction(call)) for call in server.calls if call.role == "task"]
    assert sent == [("task", "Take notes"), ("task", "Sum up")], "the call that failed, and the task behind it"
    assert server.asked("decomposer") == []
    first, second = (call.body["messages"][0]["content"] for call in server.asked("task"))
    assert first.startswith("You carry out one task"), "a conversation goes on in the words it began with"
    assert second.startswith("You do one task")
