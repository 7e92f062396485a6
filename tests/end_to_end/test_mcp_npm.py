"""The reference MCP servers from npm: called by plans and models, killed, slow, changed, and replayed without them."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_planner.model import Reply, ToolCall
from goalwright_skills.mcp.tools import McpTool
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import goalwright, replayed, rows
from tests.mcp_workspace import configure, open_servers
from tests.needs import need, needs_npm

if TYPE_CHECKING:
    from goalwright_planner.model import Request
    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.tools.envelope import Envelope

pytestmark = [pytest.mark.slow, needs_npm]
PACKAGES = Path(__file__).parents[1] / "data" / "npm"  # with a lock, npm takes half the time
READ = {"id": "read", "action_type": "tool", "name": "mcp__files__read_text_file"}
ASK = {"id": "ask", "action_type": "llm", "instruction": "Echo <<read.output>>", "depends_on": ["read"]}


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Both servers, installed once for all workers. Without the registry the tests are skipped, or fail in CI."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "npm"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "error").exists():
            (folder / "error").write_text(install(folder), encoding="utf-8")
    if error := (folder / "error").read_text(encoding="utf-8"):
        need("npm registry")
        pytest.fail(f"npm could not install the servers: {error}")
    return folder / "node_modules" / "@modelcontextprotocol"


def install(folder: Path) -> str:
    """Install both servers with npm; return its error, or nothing."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGES / name, folder)
    retries = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=15000"]
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", *retries, "--prefix", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return "not within 60 s"
    return (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode else ""


def prepare(workspace: Path, packages: Path, **everything: Any) -> McpServers:
    """Configure both servers in a workspace and trust them."""
    (workspace / "docs").mkdir()
    (workspace / "docs" / "a.md").write_text("alpha", encoding="utf-8")
    node = shutil.which("node")
    main = {name: str(packages / f"server-{name}" / "dist" / "index.js") for name in ("everything", "filesystem")}
    configure(
        workspace,
        everything={"command": node, "args": [main["everything"]], **everything},
        files={"command": node, "args": [main["filesystem"], "docs"]},
    )
    servers = open_servers(workspace)
    servers.trust_all()
    return servers


def processes(path: str) -> list[int]:
    """Return the processes whose command line contains a path."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.joinpath("cmdline").exists():
            pids += [int(entry.name)] if path.encode() in entry.joinpath("cmdline").read_bytes() else []
    return pids


async def test_plans_and_models_call_the_servers_and_a_replay_needs_no_node(
    workspace: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = prepare(workspace, packages)
    states = {state.entry.name: state for state in servers.states()[0]}
    assert {name: state.state for name, state in states.items()} == {"everything": "active", "files": "active"}
    reading = {tool.tool: tool.read_only for tool in states["files"].tools}
    assert (reading["read_text_file"], reading["write_file"]) == (True, False)

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps({"tasks": [READ | {"arguments": {"path": str(workspace / "docs" / "a.md")}}, ASK]}))
        results = [json.loads(message.content)["text"] for message in request.messages if message.role == "tool"]
        if results or request.role == "synthesis":
            return Reply("; ".join(results))
        calls = [("mcp__everything__echo", {"message": "hello"}), ("mcp__everything__get-sum", {"a": 2, "b": 3})]
        tool_calls = [ToolCall(f"c{n}", name, json.dumps(args)) for n, (name, args) in enumerate(calls)]
        return Reply("", tuple(tool_calls), finish="tool_calls")

    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        result = await runtime.run("Read a.md and echo it")
    assert (result.status, result.tasks[0].output) == ("done", "alpha"), result.tasks[0].error
    assert result.answer == "Echo: hello; The sum of 2 and 3 is 5."
    assert processes(str(packages)) == [], "the servers end with the run"
    (workspace / ".mcp.json").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_slow_killed_and_changed_servers(workspace: Path, packages: Path) -> None:
    copy = packages.with_name("@changed")  # beside the original, so that it finds its dependencies
    shutil.copytree(packages, copy)
    servers = prepare(workspace, copy, timeout=4_000)

    async def called(name: str, **arguments: Any) -> Envelope:
        return await McpTool(f"mcp__everything__{name}", "", {}, servers).call(arguments)

    with servers.held():
        slow = await called("trigger-long-running-operation", duration=20, steps=2)
        assert slow.error is not None
        assert slow.error.code == "TIMEOUT"
        call = asyncio.ensure_future(called("trigger-long-running-operation", duration=1, steps=1))
        await asyncio.sleep(0.3)
        for pid in processes(str(copy / "server-everything")):
            os.kill(pid, signal.SIGKILL)
        assert "completed" in (await call).text, "a read-only tool is called again on a new server"
    changed = copy / "server-everything" / "dist" / "tools" / "echo.js"
    text = changed.read_text(encoding="utf-8")
    assert "Echoes back the input" in text
    text = text.replace("Echoes back the input", "Echoes back, and sends home, the input")
    changed.write_text(text, encoding="utf-8")
    with servers.held():
        refused = await called("echo", message="hello")
    assert refused.error is not None
    assert "its tools have changed since you trusted them" in refused.error.message
    assert {state.entry.name: state.state for state in servers.states()[0]} == {
        "everything": "changed",
        "files": "active",
    }
