"""The reference MCP servers from npm: listed, called by plans and models, killed, slow, changed; replayed without."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_planner.model import Reply, ToolCall
from goalwright_skills.mcp.tool import McpTool
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import goalwright, replayed, rows
from tests.mcp_workspace import configure, open_servers
from tests.needs import needs_npm

if TYPE_CHECKING:
    from goalwright_planner.model import Request
    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.tools.envelope import Envelope

pytestmark = [pytest.mark.slow, needs_npm]
PACKAGES = Path(__file__).parents[1] / "data" / "npm"  # with a lock, npm takes half the time
UNREACHABLE = "the registry could not be reached"
READ = {"id": "read", "action_type": "tool", "name": "mcp__files__read_text_file"}
ASK = {"id": "ask", "action_type": "llm", "instruction": "Echo <<read.output>>", "depends_on": ["read"]}


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Both servers, installed once for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "npm"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "outcome").exists():
            (folder / "outcome").write_text(install(folder), encoding="utf-8")
    if (folder / "outcome").read_text(encoding="utf-8") == UNREACHABLE:
        pytest.skip("needs npm registry")
    return folder / "node_modules" / "@modelcontextprotocol"


def install(folder: Path) -> str:
    """Fetch both servers, within a short time or not at all."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGES / name, folder)
    patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=15000"]
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", *patience, "--prefix", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return UNREACHABLE
    if done.returncode and re.search(r"code (E[A-Z_]*(TIMEDOUT|TIMEOUT|CONN|NOTFOUND|AGAIN)|E[45]\d\d)", done.stderr):
        return UNREACHABLE
    done.check_returncode()
    return "installed"


def prepare(workspace: Path, packages: Path, **everything: Any) -> McpServers:
    """Configure both servers in a workspace, and trust them."""
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
    """The processes whose command line names a file."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.joinpath("cmdline").exists():
            found += [int(entry.name)] if path.encode() in entry.joinpath("cmdline").read_bytes() else []
    return found


async def test_a_plan_and_a_model_call_them_and_a_replay_needs_neither_them_nor_node(
    workspace: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = prepare(workspace, packages)
    states = {one.entry.name: one for one in servers.states()[0]}
    assert {name: one.state for name, one in states.items()} == {"everything": "active", "files": "active"}
    reading = {tool.tool: tool.read_only for tool in states["files"].tools}
    assert (reading["read_text_file"], reading["write_file"]) == (True, False)

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps({"tasks": [READ | {"arguments": {"path": str(workspace / "docs" / "a.md")}}, ASK]}))
        said = [json.loads(one.content)["text"] for one in request.messages if one.role == "tool"]
        if said or request.role == "synthesis":
            return Reply("; ".join(said))
        calls = [("mcp__everything__echo", {"message": "hello"}), ("mcp__everything__get-sum", {"a": 2, "b": 3})]
        made = [ToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls)]
        return Reply("", tuple(made), finish="tool_calls")

    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        result = await runtime.run("Read a.md and echo it")
    assert (result.status, result.tasks[0].output) == ("done", "alpha"), result.tasks[0].error
    assert result.answer == "Echo: hello; The sum of 2 and 3 is 5."
    assert processes(str(packages)) == [], "they end with the run"
    (workspace / ".mcp.json").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_killed_in_the_middle_slow_and_changed(workspace: Path, packages: Path) -> None:
    own = packages.with_name("@changed")  # a copy beside the others, where it finds what it depends on
    shutil.copytree(packages, own)
    servers = prepare(workspace, own, timeout=4_000)

    async def called(name: str, **arguments: Any) -> Envelope:
        return await McpTool(f"mcp__everything__{name}", "", {}, servers).call(arguments)

    with servers.held():
        late = await called("trigger-long-running-operation", duration=20, steps=2)
        assert late.error is not None
        assert late.error.code == "TIMEOUT"
        call = asyncio.ensure_future(called("trigger-long-running-operation", duration=1, steps=1))
        await asyncio.sleep(0.3)
        for pid in processes(str(own / "server-everything")):
            os.kill(pid, signal.SIGKILL)
        assert "completed" in (await call).text, "it only reads: it is called again on a new server"
    changed = own / "server-everything" / "dist" / "tools" / "echo.js"
    text = changed.read_text(encoding="utf-8")
    assert "Echoes back the input" in text
    text = text.replace("Echoes back the input", "Echoes back, and sends home, the input")
    changed.write_text(text, encoding="utf-8")
    with servers.held():
        refused = await called("echo", message="hello")
    assert refused.error is not None
    assert "its tools have changed since you trusted them" in refused.error.message
    assert {one.entry.name: one.state for one in servers.states()[0]} == {"everything": "changed", "files": "active"}
