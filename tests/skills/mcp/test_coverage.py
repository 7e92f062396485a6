"""Trust in a workspace's MCP server covers every file that it can load: it does not start after a change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.mcp import config
from goalwright_skills.mcp.trust import entry_key
from goalwright_skills.programs.git_files import UnknownIndex, parse_index, tracked_files
from tests.mcp_workspace import PLAIN, configure, open_servers, track
from tests.skills.workbench import WALLS, walls

if TYPE_CHECKING:
    from pathlib import Path

HELPER = "import os, pathlib\npathlib.Path(os.environ['MARK']).open('a').write('started\\n')\n"
PYTHON = sys.executable
# The entry of the server, and a workspace file that it loads.
STARTS: dict[str, tuple[dict[str, Any], str]] = {
    "a module beside the script": ({"command": PYTHON, "args": ["server/main.py"]}, "server/helper.py"),
    "-m": ({"command": PYTHON, "args": ["-m", "main"], "env": {"PYTHONPATH": "server"}}, "server/helper.py"),
    "a shell": ({"command": "sh", "args": ["-c", f"{PYTHON} server/main.py"]}, "server/helper.py"),
    "a link": ({"command": PYTHON, "args": ["linked/main.py"]}, "server/helper.py"),
    "cwd": ({"command": PYTHON, "args": ["../server/main.py"], "cwd": "${workspaceFolder}/tools"}, "server/helper.py"),
    "PATH": ({"command": "serve", "env": {"PATH": f"tools:{os.environ['PATH']}"}}, "tools/serve"),
}


LOADED = (
    "server/main.js",
    "server/lib.js",
    "hook.mjs",
    "node_modules/x/index.js",
    "tools/a.so",
    "apps/mcp/dist/main.js",
    "apps/mcp/node_modules/x/index.js",
    "apps/mcp/package.json",
    "apps/node_modules/x/index.js",
    "plain/main.py",
    "plain/list",
    ".venv/lib/site-packages/x.pth",
    ".venv/pyvenv.cfg",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    server = "import helper\n" + PLAIN.read_text(encoding="utf-8").replace("from __future__ import annotations\n", "")
    for name in ("main.py", "server/main.py"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(server, encoding="utf-8")
    for name in ("helper.py", "server/helper.py"):
        (work / name).write_text(HELPER, encoding="utf-8")
    (work / "Makefile").write_text(f"serve:\n\t@{PYTHON} server/main.py\n", encoding="utf-8")
    (work / "linked").symlink_to("server")
    (work / "tools").mkdir()
    for name in ("serve", "tools/serve"):
        (work / name).write_text(f"#!/bin/sh\nexec {PYTHON} main.py\n", encoding="utf-8")
        (work / name).chmod(0o755)
    (work / "notes.md").write_text("1", encoding="utf-8")
    return work


@pytest.mark.parametrize(("entry", "loaded"), STARTS.values(), ids=STARTS)
def test_server_does_not_start_after_a_change_of_a_loaded_file(
    workspace: Path, entry: dict[str, Any], loaded: str
) -> None:
    mark = workspace.parent / "mark.txt"
    env = entry.get("env", {}) | {"MARK": str(mark), "PYTHONDONTWRITEBYTECODE": "1"}
    configure(workspace, one=entry | {"env": env})
    track(workspace)
    servers = open_servers(workspace)
    servers.trust_all()
    assert [state.state for state in servers.states()[0]] == ["active"]
    starts = mark.read_text(encoding="utf-8")

    with (workspace / loaded).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    fresh = open_servers(workspace)

    assert [state.state for state in fresh.states(start=True)[0]] == ["untrusted"]
    assert [fresh.refresh(state.entry).state for state in fresh.states()[0]] == ["untrusted"]
    assert mark.read_text(encoding="utf-8") == starts, "it was not started"


def key(workspace: Path, raw: dict[str, Any]) -> str:
    (entry,), _ = config.parse({"mcpServers": {"one": raw}}, workspace / ".mcp.json", "workspace")
    return entry_key(entry, workspace, {"PATH": os.environ["PATH"]})


@pytest.mark.parametrize(
    ("entry", "loaded"),
    [
        ({"command": PYTHON, "args": ["main.py"]}, "helper.py"),
        ({"command": PYTHON, "args": ["-m", "main"]}, "helper.py"),
        ({"command": PYTHON, "args": ["-Im", "server.main"]}, "helper.py"),
        ({"command": PYTHON, "args": ["-c", "import main; main.main()"]}, "helper.py"),
        ({"command": "env", "args": ["A=1", PYTHON, "server/main.py"]}, "server/helper.py"),
        ({"command": "make", "args": ["-s", "serve"]}, "Makefile"),
        ({"command": "./serve"}, "helper.py"),
        ({"command": "node", "args": ["server/main.js"]}, "server/lib.js"),
        ({"command": "node", "args": ["server/main.js"]}, "package.json"),
        ({"command": "node", "args": ["server/main.js"]}, "node_modules/x/index.js"),
        ({"command": "node", "args": ["apps/mcp/dist/main.js"]}, "apps/mcp/node_modules/x/index.js"),
        ({"command": "node", "args": ["apps/mcp/dist/main.js"]}, "apps/mcp/package.json"),
        ({"command": "npx", "args": ["-y", "tsx", "apps/mcp/dist/main.js"]}, "apps/node_modules/x/index.js"),
        ({"command": ".venv/bin/python", "args": ["plain/main.py"]}, ".venv/lib/site-packages/x.pth"),
        ({"command": "./.venv/bin/python", "args": ["plain/main.py"]}, ".venv/pyvenv.cfg"),
        ({"command": "tools/x-mcp", "args": ["-c", "$(cat plain/list)"]}, "helper.py"),
        ({"command": "node", "args": ["--import", "./hook.mjs", "/opt/server.js"]}, "hook.mjs"),
        ({"command": "mcp-server-x", "env": {"NODE_OPTIONS": "--require=./hook.mjs"}}, "hook.mjs"),
        ({"command": "mcp-server-x", "env": {"LD_PRELOAD": "tools/a.so"}}, "tools/a.so"),
        ({"command": "npx", "args": ["-y", "x"]}, "node_modules/x/index.js"),
        ({"command": "npx", "args": ["-y", "x"]}, ".npmrc"),
        ({"command": "npx", "args": ["-y", "./server"]}, "server/lib.js"),
        ({"command": "npx", "args": ["--prefix", "server", "x"]}, "server/lib.js"),
        ({"command": "npm", "args": ["run", "serve"]}, "package.json"),
        ({"command": "uv", "args": ["run", "server/main.py"]}, "helper.py"),
        ({"command": "uv", "args": ["--directory", "server", "run", "main.py"]}, "server/lib.js"),
        ({"command": "uvx", "args": ["--from", "./server", "x"]}, "server/lib.js"),
        ({"command": "bun", "args": ["server/main.js"]}, "helper.py"),
        ({"command": "deno", "args": ["run", "-A", "server/main.js"]}, "helper.py"),
        ({"command": "docker", "args": ["compose", "up"]}, "Makefile"),
        ({"command": "docker", "args": ["run", "-v", "./server:/s", "x"]}, "server/lib.js"),
        ({"command": "java", "args": ["-cp", "server", "Main"]}, "server/lib.js"),
        ({"command": "perl", "args": ["-Iserver", "-e", "1"]}, "server/lib.js"),
        ({"command": "unheard-of", "args": []}, "helper.py"),
        ({"command": "timeout", "args": ["60", "mcp-server-x"]}, "helper.py"),
        ({"command": "mcp-server-x", "args": ["--config=server/lib.js"]}, "server/lib.js"),
        ({"command": "mcp-server-x", "args": [], "env": {"PYTHONPATH": "/x:"}}, "helper.py"),
        ({"command": PYTHON, "args": ["-X", "utf8", "reaching/main.py"]}, "helper.py"),
        ({"command": "npx", "args": ["-y", "x"], "cwd": "server"}, "server/lib.js"),
        ({"command": "mcp-server-x", "args": ["--config=lib.js"], "cwd": "server"}, "server/lib.js"),
        ({"command": "mcp-server-x", "env": {"PYTHONPATH": "."}, "cwd": "server"}, "server/lib.js"),
    ],
)  # fmt: skip
def test_files_that_other_commands_load_are_covered(workspace: Path, entry: dict[str, Any], loaded: str) -> None:
    for name in (*LOADED, "package.json", ".npmrc"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("1", encoding="utf-8")
    for name, target in ((".venv/bin/python", PYTHON), ("tools/x-mcp", "/bin/sh")):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).symlink_to(target)
    (workspace / "reaching").mkdir()
    (workspace / "reaching/main.py").write_text("import sys\nsys.path.append('..')\n", encoding="utf-8")
    track(workspace)
    before = key(workspace, entry)

    (workspace / loaded).write_text("2", encoding="utf-8")

    assert key(workspace, entry) != before


@pytest.mark.parametrize(
    "entry",
    [
        {"command": PYTHON, "args": ["plain/main.py"]},
        {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]},
        {"command": "uvx", "args": ["mcp-server-time"]},
        {"command": "docker", "args": ["run", "-i", "--rm", "mcp/time"]},
        {"command": "/opt/bin/github-mcp-server", "args": ["stdio"]},
    ],
)
def test_change_of_another_file_keeps_trust(workspace: Path, entry: dict[str, Any]) -> None:
    (workspace / "plain").mkdir()
    (workspace / "plain/main.py").write_text("import json\n", encoding="utf-8")
    track(workspace)
    before = key(workspace, entry)

    (workspace / "notes.md").write_text("2", encoding="utf-8")

    assert key(workspace, entry) == before


def test_change_of_an_untracked_file_keeps_trust_in_a_shell_command(workspace: Path) -> None:
    track(workspace)
    before = key(workspace, {"command": "sh", "args": ["-c", "x"]})
    (workspace / "log.txt").write_text("2", encoding="utf-8")
    assert key(workspace, {"command": "sh", "args": ["-c", "x"]}) == before
    shutil.rmtree(workspace / ".git")
    before = key(workspace, {"command": "sh", "args": ["-c", "x"]})
    (workspace / "log.txt").write_text("3", encoding="utf-8")
    assert key(workspace, {"command": "sh", "args": ["-c", "x"]}) != before, "without git, every file counts"


@pytest.mark.parametrize("entry", [{"command": PYTHON, "args": ["current.py"]}, {"command": "./current.py"}])
def test_changed_link_target_ends_trust(workspace: Path, entry: dict[str, Any]) -> None:
    track(workspace)
    (workspace / "current.py").symlink_to("/opt/one-mcp")
    before = key(workspace, entry)
    (workspace / "current.py").unlink()
    (workspace / "current.py").symlink_to("/opt/two-mcp")
    assert key(workspace, entry) != before


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_git_index_is_read(workspace: Path, version: str) -> None:
    (workspace / "a long name with spaces").mkdir()
    for number in range(50):
        (workspace / f"a long name with spaces/file-{number}.txt").write_text("1", encoding="utf-8")
    track(workspace)
    subprocess.run(["git", "update-index", "--index-version", version], cwd=workspace, check=True)

    tracked = {str(path.relative_to(workspace)) for path, _ in tracked_files(workspace)}

    assert len(tracked) == 59
    assert {"main.py", "linked", "a long name with spaces/file-49.txt"} <= tracked
    with pytest.raises(UnknownIndex):
        parse_index(b"DIRC" + b"\0" * 20)


@pytest.mark.parametrize("start", [{"args": ["server/main.py"]}, {"args": ["main.py"], "cwd": "server"}])
@pytest.mark.parametrize("kind", WALLS)
async def test_confined_server_runs_in_the_sandbox(workspace: Path, kind: str, start: dict[str, Any]) -> None:
    secret = workspace.parent / "secret.txt"
    secret.write_text("s3cret", encoding="utf-8")
    reading = f"""
import pathlib
try:
    said = pathlib.Path({str(secret)!r}).read_text()
except OSError:
    said = "refused"
"""
    (workspace / "server/helper.py").write_text(reading, encoding="utf-8")
    text = (workspace / "server/main.py").read_text(encoding="utf-8")
    text = text.replace("given.say,", "helper.said,").replace('"starts.txt"', 'os.environ["TMPDIR"], "starts.txt"')
    (workspace / "server/main.py").write_text(text, encoding="utf-8")
    configure(workspace, one={"command": PYTHON, "confined": True, **start})
    servers = open_servers(workspace)
    servers._confinement = lambda: walls(kind, workspace.parent)

    servers.trust_all()

    (state,) = servers.states()[0]
    assert (state.state, state.reason) == ("active", None)
    assert {tool.description for tool in state.tools if tool.tool == "add"} == {"refused"}
