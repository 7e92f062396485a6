"""Confined MCP servers: neither their entry nor the location of their program escapes the sandbox."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.confinement.box import ResourceLimits
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.mcp.connections import behind_walls
from tests.mcp_workspace import PLAIN, configure, open_servers
from tests.skills.workbench import WALLS, any_walls, walls

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.mcp.server_state import ServerState

# Reports the files that it can read, and a variable.
READING = """
import os, pathlib
said = os.environ.get("GREETING", "")
for name in os.environ["SECRETS"].split(":"):
    try:
        said += " " + pathlib.Path(name).read_text()
    except OSError:
        said += " refused"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def workspace(home: Path) -> Path:
    """A workspace whose server describes its tool `add` with the text `said` of `server/helper.py`."""
    work = home / "work"
    (work / "server").mkdir(parents=True)
    text = PLAIN.read_text(encoding="utf-8").replace("from __future__ import annotations\n", "import helper\n")
    text = text.replace("given.say,", "helper.said,").replace('"starts.txt"', 'os.environ["TMPDIR"], "starts.txt"')
    (work / "server/main.py").write_text(text, encoding="utf-8")
    (work / "server/helper.py").write_text(READING, encoding="utf-8")
    return work


def state_of(workspace: Path, confinement: Confinement, **entry: Any) -> ServerState:
    """Return the state of a confined, trusted server."""
    configure(workspace, one={"args": ["server/main.py"], "confined": True} | entry)
    servers = open_servers(workspace)
    servers._confinement = lambda: confinement
    servers.trust_all()
    (state,) = servers.checked()[0]
    return state


def description(state: ServerState) -> str:
    assert (state.state, state.reason) == ("active", None)
    return next(tool.description for tool in state.tools if tool.tool == "add")


@pytest.mark.parametrize("kind", WALLS)
def test_variables_of_an_entry_are_set_only_inside_the_sandbox(workspace: Path, home: Path, kind: str) -> None:
    outside = home / "outside"
    outside.mkdir()
    env = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(outside / "loaded"), "GREETING": "hello", "SECRETS": "/no"}

    state = state_of(workspace, walls(kind, home), command=sys.executable, env=env)

    assert description(state) == "hello refused"
    assert list(outside.iterdir()) == [], "the program that sets up the sandbox obeyed the entry"


@pytest.mark.parametrize("location", ["work/bin/serve", "work/serve", ".local/bin/serve", ".cargo/bin/serve", "serve"])
@pytest.mark.parametrize("kind", WALLS)
def test_location_of_a_program_reveals_no_user_files(workspace: Path, home: Path, kind: str, location: str) -> None:
    secrets = ("work/.env", ".local/share/goalwright/token", ".cargo/credentials.toml", "notes.txt")
    for name in secrets:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("s3cret", encoding="utf-8")
    program = home / location
    program.parent.mkdir(parents=True, exist_ok=True)
    program.symlink_to(os.path.realpath(sys.executable))
    env = {"SECRETS": ":".join(str(home / name) for name in secrets)}

    state = state_of(workspace, walls(kind, home), command=str(program), env=env)

    assert description(state) == "refused refused refused refused"


def test_memory_of_a_confined_server_is_limited(workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taking = (
        "import os, time\nhandle = os.memfd_create('x')\nos.posix_fallocate(handle, 0, 500_000_000)\ntime.sleep(60)"
    )
    (workspace / "server/helper.py").write_text(taking, encoding="utf-8")
    limits = functools.partial(ResourceLimits, memory=300_000_000, file_size=1_000_000_000)
    monkeypatch.setattr(behind_walls, "ResourceLimits", limits)
    confinement = replace(any_walls(home), groups=Groups(None, None))  # type: ignore[type-var]

    state = state_of(workspace, confinement, command=sys.executable)

    assert state.state == "broken"
    assert "used more memory than a confined server may, and was ended" in (state.reason or "")
