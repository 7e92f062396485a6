"""Runs that call the tools of MCP servers: planned, approved, recorded, resumed and replayed without the server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright import Answer
from goalwright.batch.run_batch import run_batch
from goalwright.settings.settings import Settings
from goalwright_planner.events import CatalogueTaken, Warned
from goalwright_planner.model import Reply, ToolCall
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import goalwright, replayed, rows
from tests.mcp_workspace import configure, open_servers, small, starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.model import Request

GOAL = "Add the numbers"
ADD = {"id": "sum", "action_type": "tool", "name": "mcp__small__add", "arguments": {"a": 2, "b": 3}}
ASK = {"id": "ask", "action_type": "llm", "instruction": "Use tools: <<sum.output>>", "depends_on": ["sum"]}


def calling(calls: Sequence[tuple[str, dict[str, Any]]], tasks: Sequence[dict[str, Any]] = (ADD, ASK)) -> ScriptedModel:
    """A model that plans these tasks; its task makes these calls at once, then says what came back."""

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps({"tasks": tasks}))
        results = [json.loads(one.content)["text"] for one in request.messages if one.role == "tool"]
        if results or request.role == "synthesis":
            return Reply("; ".join(results) or "the answer")
        made = [ToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls)]
        return Reply("", tuple(made), finish="tool_calls")

    return ScriptedModel(script)


def taken(recorder: Recorder) -> CatalogueTaken:
    """What a run recorded of its tools."""
    return next(one for one in recorder.events if isinstance(one, CatalogueTaken))


async def test_a_plan_and_a_model_call_a_server_which_ends_with_the_run(workspace: Path) -> None:
    configure(workspace, small=small())
    open_servers(workspace).trust_all()
    model, recorder = (
        calling([("mcp__small__add", {"a": 40, "b": 2}), ("mcp__small__slow", {"seconds": 0})]),
        Recorder(),
    )
    async with goalwright(workspace, model) as runtime:
        result = await runtime.run(GOAL, record=recorder)
    assert (result.status, result.tasks[0].output, result.answer) == ("done", "5", "42; awake")
    assert starts(workspace) == 2, "one to list its tools when it was trusted, one for the run"
    pids = [int(one) for one in (workspace / "starts.txt").read_text(encoding="utf-8").split()]
    assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids)
    assert [tool.name for tool in taken(recorder).mcp][:1] == ["mcp__small__add"]
    assert "mcp__small__add" in model.asked[0].messages[-1].content + model.asked[0].messages[0].content
    assert {tool.name for tool in model.asked[1].tools} >= {"mcp__small__add", "mcp__small__note"}


async def test_a_call_that_changes_something_waits_and_resume_and_replay_need_no_server(workspace: Path) -> None:
    config = configure(workspace, small=small())
    open_servers(workspace).trust_all()
    model = calling([("mcp__small__note", {"text": "milk"}), ("mcp__small__add", {"a": 1})])
    async with goalwright(workspace, model) as runtime:
        waiting = await runtime.run(GOAL)
        assert (waiting.status, [one.tool for one in waiting.waiting]) == ("waiting", ["mcp__small__note"])
        assert not (workspace / "left.txt").exists()
    asked, begun = len(model.asked), starts(workspace)
    config.unlink()  # gone, as on another machine
    async with goalwright(workspace, model) as runtime:
        again = await runtime.resume(waiting.run_id)
        assert (again.status, len(model.asked), starts(workspace)) == ("waiting", asked, begun), (
            "no call was made again"
        )
        denied = {waiting.waiting[0].id: Answer("deny", by="cli")}
        done = await runtime.resume(waiting.run_id, answers=denied)
    assert (done.status, len(model.asked)) == ("done", asked + 1)
    assert done.answer is not None
    assert done.answer.endswith("; 1")
    replay = await replayed(workspace, rows(workspace))
    assert (replay.drift, starts(workspace)) == ((), begun)


async def test_a_sub_goal_has_the_tools_of_its_run(workspace: Path) -> None:
    configure(workspace, small=small())
    open_servers(workspace).trust_all()
    plans = [{"tasks": [{"id": "part", "action_type": "goal", "instruction": "Add them"}]}, {"tasks": [ADD]}]
    model = ScriptedModel(lambda request: Reply(json.dumps(plans.pop(0)) if request.role == "decomposer" else "done"))
    async with goalwright(workspace, model) as runtime:
        result = await runtime.run(GOAL)
    assert (result.status, {task.id: task.output for task in result.tasks}["part/sum"]) == ("done", "5")
    assert all("mcp__small__add" in one.messages[0].content + one.messages[1].content for one in model.asked[:2])


async def test_what_is_not_trusted_is_left_out_with_a_warning(workspace: Path) -> None:
    configure(workspace, small=small())
    plan = [{"id": "a", "action_type": "llm", "instruction": "Do it"}]
    model, recorder = calling([], plan), Recorder()
    async with goalwright(workspace, model) as runtime:
        await runtime.run(GOAL, record=recorder)
    warned = [one.message for one in recorder.events if isinstance(one, Warned)]
    assert any("'small' are not used: you have not trusted it yet" in text for text in warned)
    assert (taken(recorder).mcp, starts(workspace)) == ((), 0)


async def test_of_200_tools_those_that_fit_the_goal_are_listed_and_offered(workspace: Path) -> None:
    configure(workspace, small=small("--many", "200"))
    open_servers(workspace).trust_all()
    convert: dict[str, Any] = {"id": "a", "action_type": "tool", "name": "mcp__small__extra_199"}
    tasks = [convert, {"id": "ask", "action_type": "llm", "instruction": "Go on"}]
    model, recorder = calling([("mcp__small__extra_199", {})], tasks), Recorder()
    async with goalwright(workspace, model) as runtime:
        result = await runtime.run("Convert the currencies in the report", record=recorder)
    assert result.status == "done"
    recorded = [tool.name for tool in taken(recorder).mcp]
    assert (len(recorded), recorded[0]) == (30, "mcp__small__extra_199")
    assert sum(tool.name.startswith("mcp__") for tool in model.asked[1].tools) == 30


async def test_one_server_serves_a_whole_batch(workspace: Path) -> None:
    configure(workspace, small=small())
    open_servers(workspace).trust_all()
    plan = {"tasks": [ADD]}
    goals = workspace / "goals.jsonl"
    lines = [json.dumps({"id": str(number), "goal": f"goal {number}", "plan": plan}) for number in range(3)]
    goals.write_text("\n".join(lines), encoding="utf-8")
    report = await run_batch(goals, workspace / "out.jsonl", workspace=workspace, settings=Settings(model="openai/x"))
    assert report.summary.all_done
    assert starts(workspace) == 2


def test_a_run_without_servers_imports_nothing_of_mcp(workspace: Path) -> None:
    row = {"id": "look", "action_type": "tool", "name": "ListFiles", "arguments": {"path": "."}}
    (workspace / "plan.json").write_text(json.dumps({"goal": "Look", "tasks": [row]}), encoding="utf-8")
    run = ["run", "--plan", "plan.json", "--quiet", "--workspace", str(workspace)]
    code = "import sys\nfrom goalwright.interfaces.cli.main import main\n"
    code += f"try: main({run!r})\nexcept SystemExit as end: status = end.code\n"
    code += "found = [one for one in list(sys.modules) if one.split('.')[0] in ('mcp', 'mcp_types', 'httpx2')"
    code += " or one.startswith(('goalwright_skills.mcp', 'goalwright.interfaces.mcp'))]\nprint(status, found)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=workspace)
    assert ran.stdout.splitlines()[-1] == "0 []"


async def test_tools_of_servers_that_are_off_are_not_offered(workspace: Path) -> None:
    configure(workspace, small=small())
    open_servers(workspace).trust_all()
    plan = json.dumps({"tasks": [{"id": "ask", "action_type": "llm", "instruction": "Say it"}]})
    model = ScriptedModel(lambda request: Reply(plan if request.role == "decomposer" else "said"))
    for off, gone in (("mcp__small__add", {"mcp__small__add"}), ("mcp__small", None)):
        recorder = Recorder()
        async with goalwright(workspace, model, skills_off=(off, "mcp__smal__add")) as runtime:
            assert (await runtime.run(GOAL, record=recorder)).status == "done"
        offered = {tool.name for tool in taken(recorder).mcp}
        assert not offered if gone is None else offered and not offered & gone
        assert off not in taken(recorder).tool_listing
        (warned,) = [one.message for one in recorder.of(Warned) if "listed in `off`" in one.message]
        assert "'mcp__smal__add' is listed in `off`, but no MCP server" in warned
