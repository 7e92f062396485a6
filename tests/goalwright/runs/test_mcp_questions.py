"""Runs whose MCP servers ask something, have resources, or want a login: they wait, go on, and replay strictly."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright import Answer, Goal
from goalwright.settings.paths import Paths
from goalwright_planner.events import ToolReported, Warned
from goalwright_planner.model import Reply, ToolCall
from goalwright_skills.errors import GoalwrightError
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import goalwright, replayed, rows
from tests.mcp_workspace import configure, open_servers
from tests.oauth_server import ACCESS, OAuthServer, browse

if TYPE_CHECKING:
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.model import Request

SERVER = Path(__file__).parents[2] / "mcp_asking_server.py"
GOAL = "Paint the fence"
SKILL = "---\nname: tide-review\ndescription: Review tides. Use it to review a topic such as tides.\n---\nReview.\n"


def planned(tool: str, **arguments: Any) -> ScriptedModel:
    """A model that plans one call, and answers with what came of it."""
    tasks = [
        {"id": "call", "action_type": "tool", "name": tool, "arguments": arguments},
        {"id": "tell", "action_type": "llm", "instruction": "Tell: <<call.output>>", "depends_on": ["call"]},
    ]

    def script(request: Request) -> Reply:
        return Reply(json.dumps({"tasks": tasks}) if request.role == "decomposer" else "told")

    return ScriptedModel(script)


@pytest.fixture(params=["modern", "legacy"])
def asking(request: pytest.FixtureRequest, workspace: Path) -> Path:
    """A workspace with a trusted server that asks, in both forms of the protocol."""
    configure(workspace, asking={"command": sys.executable, "args": ["-S", str(SERVER), request.param]})
    open_servers(workspace).trust_all()
    return workspace


async def test_a_form_waits_is_checked_and_continues_the_call(asking: Path) -> None:
    model = planned("mcp__asking__paint", what="the fence")
    async with goalwright(asking, model, approve="never") as runtime:
        waiting = await runtime.run(GOAL)
        assert waiting.status == "waiting", waiting.error
        (request,) = waiting.waiting
        assert (request.kind, request.tool) == ("question", "mcp__asking__paint")
        assert request.schema is not None
        assert list(request.schema["properties"]) == ["size", "colour"]
        assert "How shall the fence be?" in request.preview
        with pytest.raises(GoalwrightError, match="must be at most 10"):
            await runtime.resume(waiting.run_id, answers={request.id: Answer("answer", text='{"size": 11}')})
        again = await runtime.resume(waiting.run_id)
        assert [one.id for one in again.waiting] == [request.id], "the same question, asked once"
        done = await runtime.resume(waiting.run_id, answers={request.id: Answer("answer", text='{"size": 3}')})
    assert done.status == "done", done.error
    assert done.tasks[0].output == "the fence: accept [('colour', 'blue'), ('size', 3)]"
    assert (await replayed(asking, rows(asking))).drift == ()


def painting(*others: dict[str, Any]) -> ScriptedModel:
    """A model that plans three calls beside each other that ask, and others."""
    rows = [{"id": one, "name": "mcp__asking__paint", "arguments": {"what": f"wall {one}"}} for one in "abc"]
    tasks = [{"action_type": "tool", **row} for row in (*rows, *others)]
    plan = json.dumps({"tasks": tasks, "synthesis": "Tell all"})
    return ScriptedModel(lambda request: Reply(plan if request.role == "decomposer" else "told"))


SIZES = {"a": 1, "b": 2, "c": 3}


async def test_questions_of_calls_beside_each_other_reach_their_own_calls(asking: Path) -> None:
    asked: list[str] = []

    async def approve(request: ApprovalRequest) -> Answer | None:
        assert request.task is not None
        asked.append(request.task)
        assert f"How shall wall {request.task} be?" in request.preview
        (asking / "go").touch()
        return Answer("answer", text=json.dumps({"size": SIZES[request.task]}))

    waits = {"id": "waits", "name": "mcp__asking__wait"}
    if "modern" in str(asking.joinpath(".mcp.json").read_text(encoding="utf-8")):
        (asking / "go").touch()
    else:  # of the calls that ask, none is known before the one that does not has ended
        asyncio.get_running_loop().call_later(2, (asking / "go").touch)
    async with goalwright(asking, painting(waits), approve="never") as runtime:
        done = await runtime.run(GOAL, approve=approve)
    outputs = {task.id: task.output for task in done.tasks}
    assert outputs.pop("waits") == "waited"
    assert outputs == {k: f"wall {k}: accept [('colour', 'blue'), ('size', {v})]" for k, v in SIZES.items()}
    assert sorted(asked) == ["a", "b", "c"], "each was asked once"


async def test_questions_of_calls_beside_each_other_wait_each_for_its_own_answer(asking: Path) -> None:
    async with goalwright(asking, painting(), approve="never") as runtime:
        waiting = await runtime.run(GOAL)
        assert {one.task: f"wall {one.task}" in one.preview for one in waiting.waiting} == dict.fromkeys("abc", True)
        answers = {one.id: Answer("answer", text=f'{{"size": {SIZES[str(one.task)]}}}') for one in waiting.waiting}
        done = await runtime.resume(waiting.run_id, answers=answers)
    assert done.status == "done", done.error
    outputs = {task.id: task.output for task in done.tasks}
    assert outputs == {k: f"wall {k}: accept [('colour', 'blue'), ('size', {v})]" for k, v in SIZES.items()}
    assert (await replayed(asking, rows(asking))).drift == ()


async def test_one_text_is_enough_for_one_field_and_a_person_who_is_there_is_asked_at_once(asking: Path) -> None:
    async def approve(request: ApprovalRequest) -> Answer | None:
        return Answer("answer", text="Ada") if request.kind == "question" else Answer()

    async with goalwright(asking, planned("mcp__asking__greet"), approve="never") as runtime:
        done = await runtime.run(GOAL, approve=approve)
    assert (done.status, done.tasks[0].output) == ("done", "hello Ada")


async def test_a_form_can_be_declined_and_one_that_asks_for_a_secret_is_never_shown(asking: Path) -> None:
    async with goalwright(asking, planned("mcp__asking__paint", what="it"), approve="never") as runtime:
        waiting = await runtime.run(GOAL)
        done = await runtime.resume(waiting.run_id, answers={waiting.waiting[0].id: Answer("deny", by="cli")})
    assert done.tasks[0].output == "it: decline []"
    recorder = Recorder()
    async with goalwright(asking, planned("mcp__asking__phish"), approve="never") as runtime:
        phished = await runtime.run("Get the key", record=recorder)
    assert (phished.status, phished.tasks[0].output) == ("done", "decline")
    assert [one for one in recorder.events if isinstance(one, Warned) and "looks like a secret" in str(one)]


async def test_progress_reaches_those_who_watch_and_not_the_record(asking: Path) -> None:
    recorder = Recorder()
    async with goalwright(asking, planned("mcp__asking__work"), approve="never") as runtime:
        done = await runtime.run(GOAL, record=recorder)
    assert done.tasks[0].output == "worked"
    assert [one.text for one in recorder.events if isinstance(one, ToolReported)] == ["asking: 1 of 2: half of it"]
    assert not [row for row in rows(asking) if row.type == "tool_reported"]


async def test_resources_are_listed_read_and_replayed_without_the_server(asking: Path) -> None:
    async with goalwright(
        asking, planned("ReadResource", server="asking", uri="note://today"), approve="never"
    ) as runtime:
        done = await runtime.run(GOAL)
    assert done.tasks[0].output == "Resource note://today:\nbuy bread"
    async with goalwright(asking, planned("ListResources"), approve="never") as runtime:
        listed = await runtime.run("List what there is")
    assert "note://today" in (listed.tasks[0].output or "")
    (asking / ".mcp.json").unlink()
    assert (await replayed(asking, rows(asking))).drift == ()


def following(**task: Any) -> ScriptedModel:
    """A model that plans one task that follows a prompt, and says what it was told."""
    tasks = [{"id": "review", "action_type": "skill", "instruction": "Review it", **task}]

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps({"tasks": tasks}))
        return Reply("told: " + request.messages[0].content.splitlines()[-1])

    return ScriptedModel(script)


async def test_a_prompt_is_a_skill_that_is_filled_in_and_replayed_without_the_server(asking: Path) -> None:
    model = following(name="mcp:asking:review", arguments="tides")
    async with goalwright(asking, model, approve="never") as runtime:
        done = await runtime.run("Review the tides the house way")
    assert done.tasks[0].output == "told: Review tides in three sentences.", done.error
    assert done.skills_used == ("mcp:asking:review",)
    listed = str(model.asked[0].messages)
    assert "<name>mcp:asking:review</name>" in listed
    assert "Its arguments, as text: topic." in listed
    (asking / ".mcp.json").unlink()
    assert (await replayed(asking, rows(asking))).drift == ()


async def test_a_prompt_ranks_below_skills_and_is_certain_only_if_it_is_named(asking: Path) -> None:
    add_skill(asking, "tide-review", SKILL)
    model = following(name="mcp:asking:review", arguments='{"topic": "tides"}')
    async with goalwright(asking, model, approve="never") as runtime:
        by_fit = await runtime.run("Review a topic the house way: tides")
        by_name = await runtime.run("Review the tides with mcp:asking:review")
    assert "mcp:asking:review" in by_fit.skills
    assert by_fit.skills.index("tide-review") < by_fit.skills.index("mcp:asking:review")
    for result, certain in ((by_fit, False), (by_name, True)):
        chosen = [row.body["selections"] for row in rows(asking, result.run_id) if row.type == "skills_selected"]
        (prompt,) = [one for one in chosen[0] if one["name"] == "mcp:asking:review"]
        assert prompt.get("certain", False) is certain


async def test_a_prompt_is_loaded_in_a_task_by_the_skill_tool_and_replayed_without_the_server(asking: Path) -> None:
    args = {"name": "mcp:asking:review", "args": '{"topic": "the moon"}'}

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps({"tasks": [{"id": "review", "action_type": "llm", "instruction": "Review it"}]}))
        if request.messages[-1].role != "tool":
            return Reply("", tool_calls=(ToolCall("1", "Skill", json.dumps(args)),))
        return Reply(request.messages[-1].content)

    async with goalwright(asking, ScriptedModel(script), approve="never") as runtime:
        done = await runtime.run("Do a thing about the moon")
    assert "Review the moon in three sentences." in (done.tasks[0].output or ""), done.error
    (asking / ".mcp.json").unlink()
    assert (await replayed(asking, rows(asking))).drift == ()


async def test_a_prompt_whose_arguments_are_missing_or_unknown_fails_its_task_and_says_so(asking: Path) -> None:
    for arguments, message in (("", "needs topic"), ('{"subject": "tides"}', "has no argument 'subject'")):
        async with goalwright(
            asking, following(name="mcp:asking:review", arguments=arguments), approve="never"
        ) as runtime:
            failed = await runtime.run("Review it")
        assert failed.status == "failed"
        assert message in (failed.tasks[0].error or "")


async def test_no_prompt_of_a_server_that_is_not_trusted_is_offered(workspace: Path) -> None:
    configure(workspace, asking={"command": sys.executable, "args": ["-S", str(SERVER), "modern"]})
    model = following(name="mcp:asking:review", arguments="tides")
    async with goalwright(workspace, model, approve="never") as runtime:
        refused = await runtime.run("Review the tides the house way")
        with pytest.raises(GoalwrightError, match="no trusted MCP server has the prompt"):
            await runtime.run(Goal("Review the tides", skills=("mcp:asking:review",)))
    assert refused.status == "failed"
    assert "<name>mcp:" not in str(model.asked[0].messages)


async def test_a_resource_is_read_by_server_and_uri(asking: Path) -> None:
    async with goalwright(asking, planned("ListResources"), approve="never") as runtime:
        found = await runtime.workspace.tools.read_resource("asking", "note://today")
        assert (found.status, found.text) == ("success", "Resource note://today:\nbuy bread")
        lost = await runtime.workspace.tools.read_resource("other", "note://today")
        assert lost.error is not None
        assert "no MCP server 'other'" in lost.error.message


async def test_a_run_waits_for_a_login_and_its_token_is_in_no_record(workspace: Path) -> None:
    with OAuthServer(tool=lambda sent: f"for {sent}") as server:
        configure(workspace, guarded={"type": "http", "url": server.url})
        paths = Paths.of(workspace, os.environ)
        servers = open_servers(workspace, logins=paths.logins)
        servers.trust_all()

        async def page(url: str) -> None:
            asyncio.get_running_loop().run_in_executor(None, browse, url)

        entry = servers.states()[0][0].entry
        assert await asyncio.to_thread(servers.log_in, entry, page, 60.0)
        servers.trust_all()
        server.tokens.clear()
        server.traps.add("stale")
        model = planned("mcp__guarded__look")
        async with goalwright(workspace, model, approve="never") as runtime:
            waiting = await runtime.run(GOAL)
            assert [one.kind for one in waiting.waiting] == ["login"], waiting.error
            assert "goalwright mcp login guarded" in waiting.waiting[0].preview
            again = await runtime.resume(waiting.run_id)
            assert again.status == "waiting", (again.error, again.tasks)
        assert await asyncio.to_thread(servers.log_in, entry, page, 60.0)
        async with goalwright(workspace, model, approve="never") as runtime:
            done = await runtime.resume(waiting.run_id)
        assert (done.status, done.tasks[0].output) == ("done", "for Bearer ***")
        assert done.waiting == ()
    assert (await replayed(workspace, rows(workspace))).drift == ()
    kept = [path for path in workspace.rglob("*") if path.is_file() and ACCESS.encode() in path.read_bytes()]
    assert kept == []
