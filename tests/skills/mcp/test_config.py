"""The configuration files of MCP servers: the formats of other programs, and invalid entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goalwright_skills.errors import InputError
from goalwright_skills.mcp import config, importing
from goalwright_skills.mcp.coverage import coverage
from goalwright_skills.mcp.entry import McpFault, ServerEntry
from goalwright_skills.mcp.tool_list import tool_name
from goalwright_skills.mcp.trust import entry_key
from tests.growth import growth


def entry(raw: dict[str, Any]) -> ServerEntry:
    """Return an entry of a workspace."""
    (server,), _ = config.parse({"mcpServers": {"one": raw}}, Path("/w/.mcp.json"), "workspace")
    return server


def test_workspace_entry_overrides_the_users_entry_of_the_same_name(tmp_path: Path) -> None:
    user = tmp_path / "mcp.json"
    user.write_text(json.dumps({"mcpServers": {"a": {"command": "user"}, "b": {"command": "b"}}}), encoding="utf-8")
    (tmp_path / ".mcp.json").write_text(json.dumps({"servers": {"a": {"command": "work"}}}), encoding="utf-8-sig")
    entries, warnings = config.read(tmp_path, user)
    assert [(row.name, row.source, row.command_line) for row in entries] == [
        ("a", "workspace", "work"),
        ("b", "user", "b"),
    ]
    assert len(warnings) == 1
    assert "'a' is not used" in warnings[0]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', "[" * 100_000, "\x00", '{"other": {}}'])
def test_unreadable_file_causes_a_warning(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")
    entries, warnings = config.read(tmp_path, tmp_path / "none.json")
    assert (entries, len(warnings)) == ([], 1)
    assert ".mcp.json" in warnings[0]


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ({}, "neither 'command' nor 'url': give 'command' if goalwright starts it"),
        ({"command": "x", "url": "http://x"}, "both 'command' and 'url': keep 'command' if goalwright starts it"),
        ({"url": "file:///etc"}, "does not begin with http"),
        ({"type": "sse", "url": "http://x"}, "'sse', which is not supported"),
        ({"command": "x", "args": "y"}, "not a list of strings"),
        ({"command": "x", "env": {"A": ["b"]}}, "'env' that is not an object of strings"),
        ({"command": "x", "timeout": "9"}, "number of milliseconds"),
        ({"command": "x", "args": ["${input:key}"]}, "${input:key}"),
        ({"command": "x\0y"}, "NUL character"),
        ({"command": "x", "env": {"A": "1\0--bind\0/\0/"}}, "NUL character"),
        ({"command": "x", "env": {"A=B": "1"}}, "a '=' in it"),
        ({"command": "x", "cwd": ["y"]}, "'cwd' that is not a string"),
        ({"command": "x", "cwd": "y\0z"}, "NUL character"),
    ],
)
def test_invalid_entry_has_a_fault(raw: dict[str, Any], fault: str) -> None:
    assert fault in entry(raw).fault


def test_warning_of_an_invalid_entry_names_file_and_remedy(tmp_path: Path) -> None:
    file, raw = tmp_path / ".mcp.json", {"command": "npx", "url": "https://x.test/mcp"}
    file.write_text(json.dumps({"mcpServers": {"docs": raw}}), encoding="utf-8")
    _, warnings = config.read(tmp_path, tmp_path / "none.json")
    remedy = "keep 'command' if goalwright starts it, or 'url' if it is called over HTTP"
    assert warnings == [f"{file}: the MCP server 'docs' has both 'command' and 'url': {remedy}"]


def test_variables_are_filled_in_and_listed_with_their_targets(tmp_path: Path) -> None:
    raw = {"type": "http", "url": "https://${HOST:-x.test}/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}
    remote = entry(raw | {"timeout": 1500})
    launch = remote.launch(tmp_path, {"TOKEN": "t0ps3cret"})
    assert (launch.url, launch.headers, launch.timeout) == (
        "https://x.test/mcp",
        {"Authorization": "Bearer t0ps3cret"},
        1.5,
    )
    assert launch.secrets == ("Bearer t0ps3cret", "t0ps3cret")
    assert ("TOKEN", "the header Authorization to https://${HOST:-x.test}/mcp") in remote.variables()
    with pytest.raises(McpFault, match="needs TOKEN"):
        remote.launch(tmp_path, {})
    local = entry({"command": "x", "args": ["${workspaceFolder}/a", "${A}"]})
    assert local.launch(tmp_path, {"A": "${B}"}).args == (f"{tmp_path}/a", "${B}"), "values are not filled in again"


@pytest.mark.parametrize("cwd", ["/", "..", "file.txt", "nowhere", "out"])
def test_cwd_outside_the_workspace_is_refused(tmp_path: Path, cwd: str) -> None:
    work = tmp_path / "work"
    (work / "server").mkdir(parents=True)
    (work / "file.txt").touch()
    (work / "out").symlink_to(tmp_path)
    assert entry({"command": "x", "cwd": "server"}).launch(work, {}).cwd == work / "server"
    with pytest.raises(McpFault, match="is not a folder of the workspace"):
        entry({"command": "x", "cwd": cwd}).launch(work, {})


def test_key_covers_the_workspace_files_that_the_entry_names(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("run.sh", "lib/a.py", "tool/__init__.py", "data/x", ".agents/journal.sqlite", ".agents/runs/r/y"):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1", encoding="utf-8")
    (tmp_path / "outside").write_text("1", encoding="utf-8")
    (work / "link").symlink_to(work / "lib")

    def covered(*args: str, command: str = "python") -> list[str]:
        launch = entry({"command": command, "args": list(args)}).launch(work, {})
        return sorted(str(path.relative_to(work)) for path in coverage(launch, work).paths)

    assert covered("x.md", "--lib=lib", "-m", "tool", "../outside", "--verbose") == [".", "lib", "tool"]
    assert covered("link") == ["lib"]
    assert covered(command="./run.sh") == ["."]
    assert covered(command="run.sh") == [], "a bare name is searched in PATH"
    everything = entry({"command": "x", "args": ["."]})
    before = entry_key(everything, work, {})
    (work / ".agents" / "journal.sqlite").write_text("2", encoding="utf-8")
    (work / ".agents" / "runs" / "r" / "y").write_text("2", encoding="utf-8")
    assert entry_key(everything, work, {}) == before, "goalwright's own records are not covered"
    (work / "data" / "x").write_text("2", encoding="utf-8")
    assert entry_key(everything, work, {}) != before


def test_tool_names_are_valid_for_every_provider() -> None:
    assert tool_name("git hub", "list/issues.all") == "mcp__git_hub__list_issues_all"
    long = [tool_name("server", "x" * 80 + end) for end in ("a", "b")]
    assert {len(name) for name in long} == {64}
    assert long[0] != long[1]


def test_import_from_codex_and_vs_code_overwrites_nothing(tmp_path: Path) -> None:
    codex, vscode, target = tmp_path / "config.toml", tmp_path / "vs.json", tmp_path / "new" / "mcp.json"
    codex.write_text(
        '[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\nenv_vars = ["TOKEN"]\ntool_timeout_sec = 5\n'
        '[mcp_servers.web]\nurl = "https://x.test"\nbearer_token_env_var = "WEB_TOKEN"\nenabled = false\n',
        encoding="utf-8",
    )
    vscode.write_text('{// servers\n"servers": {"docs": {"command": "a//b",}, "in": {"command": "${input:x}"},},}')
    first = importing.import_servers(codex, target)
    assert [(row.name, row.state) for row in first] == [("docs", "imported"), ("web", "imported")]
    assert json.loads(target.read_text(encoding="utf-8"))["mcpServers"] == {
        "docs": {"command": "npx", "args": ["-y", "docs"], "env": {"TOKEN": "${TOKEN}"}, "timeout": 5000},
        "web": {
            "type": "http",
            "url": "https://x.test",
            "headers": {"Authorization": "Bearer ${WEB_TOKEN}"},
            "disabled": True,
        },
    }
    before = target.read_bytes()
    second = importing.import_servers(vscode, target)
    assert [(row.name, row.state) for row in second] == [("docs", "kept"), ("in", "invalid")]
    assert target.read_bytes() == before
    vscode.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not valid JSON"):
        importing.import_servers(vscode, target)


@pytest.mark.parametrize("text", ["/*x", '"\\', ",  "])
def test_unterminated_vs_code_file_is_refused_in_linear_time(tmp_path: Path, text: str) -> None:
    origin = tmp_path / "mcp.json"

    def refused(length: int) -> None:
        origin.write_text("{" + text * (length // len(text)), encoding="utf-8")
        with pytest.raises(InputError, match="is not valid JSON"):
            importing.import_servers(origin, tmp_path / "out.json")

    assert growth(refused, 50_000, 500_000) < 1.5
