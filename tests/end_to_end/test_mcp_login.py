"""`goalwright mcp login`, `logout` and runs that need a login, as processes; tokens are nowhere but in their file."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.end_to_end.test_serve_command import served
from tests.mcp_workspace import configure, small
from tests.oauth_server import ACCESS, REFRESH, REFRESHED, OAuthServer, browse

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.nursery import Nursery, Ran

    Goalwright = Callable[..., Ran]

CLIENT_SECRET = "client-secret-of-the-entry-0123456789"
SERVER_TOKEN = "token-in-a-variable-0123456789"
SECRETS = [secret.encode() for secret in (ACCESS, REFRESH, REFRESHED, CLIENT_SECRET, SERVER_TOKEN)]
PLAN = {
    "tasks": [
        {"id": "add", "action_type": "tool", "name": "mcp__small__add", "arguments": {"a": 1, "b": 2}},
        {"id": "look", "action_type": "tool", "name": "mcp__guarded__look", "arguments": {}, "depends_on": ["add"]},
    ]
}
# All that the libraries in between log goes to standard error; not litellm's, which fails if it logs while it loads.
DEBUG = """
import logging, sys
for name in ("mcp", "client", "httpx2", "httpcore2", "httpx", "httpcore", "goalwright", "goalwright_skills"):
    logging.getLogger(name).setLevel(1)
    logging.getLogger(name).addHandler(logging.StreamHandler())
from goalwright.interfaces.cli.main import main
main(sys.argv[1:])
"""


def told(secrets: list[bytes], text: str | bytes) -> list[bytes]:
    """The secrets that stand in a text."""
    content = text.encode() if isinstance(text, str) else text
    return [secret for secret in secrets if secret in content]


def files_with(secrets: list[bytes], folder: Path) -> list[Path]:
    """The files below a folder that have one of them."""
    return [path for path in folder.rglob("*") if path.is_file() and told(secrets, path.read_bytes())]


def log_in(nursery: Nursery, workspace: Path, seen: list[bytes]) -> str:
    """Log in as a process whose address is opened by hand; returns what it printed."""
    command = ["-m", "goalwright", "mcp", "login", "guarded", "--no-browser"]
    with nursery.start(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        printed = []
        for line in process.stderr:
            printed.append(line)
            if line.strip().startswith("http"):
                seen.append(Path(f"/proc/{process.pid}/cmdline").read_bytes())
                browse(line.strip())
        assert process.wait(60) == 0, printed
    return "".join(printed)


def processes() -> list[bytes]:
    """The command lines of all processes, and the environments of the MCP servers among them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (folder / "cmdline").read_bytes()
            found.append(line)
            if b"mcp_plain_server" in line:
                found.append((folder / "environ").read_bytes().replace(b"TOKEN=" + SERVER_TOKEN.encode(), b""))
    return found


def test_a_token_is_in_its_file_and_in_no_journal_trace_log_page_or_process_list(
    workspace: Path, nursery: Nursery, goalwright: Goalwright, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_SECRET", CLIENT_SECRET)
    monkeypatch.setenv("SERVER_TOKEN", SERVER_TOKEN)
    seen: list[bytes] = []

    def tool(sent: str) -> str:
        seen.extend(processes())
        return f"for {sent}"

    with OAuthServer(tool=tool) as server:
        oauth = {"clientId": "ours", "clientSecret": "${CLIENT_SECRET}"}
        guarded = {"type": "http", "url": server.url, "oauth": oauth}
        configure(workspace, guarded=guarded, small=small(env={"TOKEN": "${SERVER_TOKEN}"}))
        (workspace / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
        here = {"cwd": workspace}
        first = goalwright("mcp", "check", "--trust", **here)
        assert "goalwright mcp login guarded" in first.out + first.err
        said = [log_in(nursery, workspace, seen)]
        assert "Logged in to the MCP server 'guarded'." in said[0]
        assert server.asked("/token"), "it came from there"
        assert goalwright("mcp", "check", "--trust", **here).status == 0
        ran = nursery.run_python(["-c", DEBUG, "run", "--plan", "plan.json", "--json", "-v"], cwd=workspace)
        assert ran.status == 0, ran.err[-2000:]
        assert "send_request_headers.started" in ran.err, "it logs"
        assert json.loads(ran.out)["answer"] == "for Bearer ***"
        assert any(b"mcp_plain_server" in line for line in seen)
        said += [ran.out, ran.err]

        server.tokens.clear()
        server.traps.add("stale")
        waiting = goalwright("run", "--plan", "plan.json", "--json", **here)
        assert waiting.status == 6, waiting.err
        assert [one["kind"] for one in json.loads(waiting.out)["waiting"]] == ["login"]
        assert "goalwright mcp login guarded" in waiting.out + waiting.err
        log_in(nursery, workspace, seen)
        resumed = goalwright("resume", "last", "--json", **here)
        assert resumed.status == 0, resumed.err
        commands = (("trace", "export", "last"), ("trace", "show", "last"), ("mcp", "list"), ("doctor", "--json"))
        outputs = [goalwright(*words, **here) for words in commands]
        said += [text for one in (waiting, resumed, *outputs) for text in (one.out, one.err)]
        run = json.loads(waiting.out)["run_id"]
        with served(nursery, workspace) as page:
            replies = [page.asked.get(path) for path in ("/runs", f"/runs/{run}", "/mcp")]
            assert [reply.status_code for reply in replies] == [200, 200, 200]
            said += [reply.text for reply in replies]

        (kept,) = own_home.rglob("mcp-logins/*.json")
        assert told(SECRETS, kept.read_bytes())
        assert [told(SECRETS, text) for text in said if told(SECRETS, text)] == []
        assert [line for line in seen if told(SECRETS, line)] == []
        assert [path for folder in (own_home, workspace) for path in files_with(SECRETS, folder) if path != kept] == []

        out = goalwright("mcp", "logout", "guarded", **here)
        assert (out.status, out.out + out.err) == (0, "Forgot the login to the MCP server 'guarded'.\n")
        assert not kept.exists()
        assert files_with(SECRETS, own_home) == []


def test_a_login_that_nobody_finishes_fails_and_keeps_nothing(
    workspace: Path, goalwright: Goalwright, own_home: Path
) -> None:
    with OAuthServer() as server:
        configure(workspace, guarded={"type": "http", "url": server.url})
        untrusted = goalwright("mcp", "login", "guarded", "--no-browser", cwd=workspace)
        assert (untrusted.status, server.seen) == (1, []), "nothing is asked before it is trusted"
        goalwright("mcp", "check", "--trust", cwd=workspace)
        late = goalwright("mcp", "login", "guarded", "--no-browser", "--timeout", "3", "--json", cwd=workspace)
        assert late.status == 1
        assert "was not finished within 3 s" in json.loads(late.out)["error"]["message"]
        unknown = goalwright("mcp", "login", "guardet", cwd=workspace)
        assert unknown.status == 2
        assert "there is no MCP server 'guardet'" in unknown.err
    assert not [path for path in own_home.rglob("mcp-logins/*.json") if "tokens" in path.read_text(encoding="utf-8")]
