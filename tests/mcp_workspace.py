"""Test workspaces with MCP servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.settings.paths import Paths
from goalwright_skills.mcp.servers import McpServers
from goalwright_skills.programs.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGED = Path(__file__).with_name("mcp_server.py")
PLAIN = Path(__file__).with_name("mcp_plain_server.py")


def small(*args: str, **rest: Any) -> dict[str, Any]:
    """Return an entry for the plain server, which logs each start in `starts.txt` of its folder."""
    return {"command": sys.executable, "args": ["-S", str(PLAIN), *args], **rest}


def packaged(**rest: Any) -> dict[str, Any]:
    """Return an entry for the package's server, which takes seconds to start."""
    return {"command": sys.executable, "args": [str(PACKAGED)], **rest}


def configure(workspace: Path, **entries: Any) -> Path:
    """Write a workspace's `.mcp.json`."""
    workspace.mkdir(parents=True, exist_ok=True)
    path = workspace / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return path


def open_servers(
    workspace: Path, environ: Mapping[str, str] | None = None, *, logins: Path | None = None
) -> McpServers:
    """Open the servers of a workspace as a run does."""
    paths = Paths.of(workspace, os.environ)
    env = dict(os.environ) if environ is None else environ
    return McpServers(paths.workspace, paths.user_mcp, paths.cache / "mcp", Trust(paths.trust), env, logins=logins)


def starts(workspace: Path) -> int:
    """Return how often the plain server was started."""
    log = workspace / "starts.txt"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def track(workspace: Path) -> None:
    """Make the workspace a git repository that tracks all its files."""
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    subprocess.run(["git", "add", "-A"], cwd=workspace, check=True)
