"""Import of MCP servers from other programs: nothing is overwritten, and copied servers are not trusted yet."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.format.documents import TOML_LIMIT, parse_json, parse_toml
from goalwright_skills.mcp import config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# A string, a comment, or a comma before a closing bracket. Without an end it extends to the end of the text; otherwise
# the search would start again at every position.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Imported:
    """The result for one server: imported, kept (already in the target), or invalid."""

    name: str
    origin: Path
    target: Path
    state: str
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row that `mcp import --json` prints."""
        names = {"name": self.name, "from": str(self.origin), "to": str(self.target)}
        return names | {"state": self.state, "reason": self.reason}


def import_all(workspace: Path, user_file: Path, home: Path) -> list[Imported]:
    """Copy the servers of Codex into the user's file and those of VS Code into the workspace's."""
    pairs = (
        (home / ".codex" / "config.toml", user_file),
        (workspace / ".vscode" / "mcp.json", workspace / config.FILE),
    )
    if not any(origin.is_file() for origin, _ in pairs):
        origins = " nor ".join(str(origin) for origin, _ in pairs)
        raise InputError(f"there is neither {origins}", hint="write the servers into .mcp.json")
    return [row for origin, target in pairs if origin.is_file() for row in import_servers(origin, target)]


def import_servers(origin: Path, target: Path) -> list[Imported]:
    """Copy the servers of another program's file into `target`; raises InputError if either cannot be read."""
    imported = _codex(origin) if origin.suffix == ".toml" else _json(origin)
    document = _document(target)
    servers = document.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise InputError(f"{target}: 'mcpServers' is not an object", hint="fix the file")
    entries, _ = config.parse({"mcpServers": imported}, origin, "user")
    rows = []
    for entry in entries:
        if entry.fault:
            rows.append(Imported(entry.name, origin, target, "invalid", entry.fault))
        elif entry.name in servers:
            is_same = servers[entry.name] == dict(entry.raw)
            reason = None if is_same else "another server has that name"
            rows.append(Imported(entry.name, origin, target, "kept", reason))
        else:
            servers[entry.name] = dict(entry.raw)
            rows.append(Imported(entry.name, origin, target, "imported"))
    if any(row.state == "imported" for row in rows):
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        safe_files.write(target, text, below=target.parent)
    return rows


def _document(target: Path) -> dict[str, Any]:
    if not target.exists():
        return {}
    document = _parsed(target, _text(target))
    if "servers" in document and "mcpServers" not in document:
        document["mcpServers"] = document.pop("servers")
    return document


def _json(origin: Path) -> dict[str, Any]:
    """Return the servers in a JSON file, which may contain comments."""
    document = _parsed(origin, _JSONC.sub(lambda match: match[1] or "", _text(origin)))
    tables = [document[key] for key in ("mcpServers", "servers") if isinstance(document.get(key), dict)]
    if not tables:
        raise InputError(f"{origin} names no MCP servers", hint="it has neither 'mcpServers' nor 'servers'")
    return {name: raw for table in tables for name, raw in table.items()}


def _text(path: Path) -> str:
    try:
        return untrusted_files.read_text(path, TOML_LIMIT)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="make it a readable text file") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        document = parse_json(text)
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}", hint="fix the file") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} is not a JSON object", hint="fix the file")
    return document


def _codex(origin: Path) -> dict[str, Any]:
    """Return the servers in Codex's config.toml in the format of `.mcp.json`."""
    try:
        document = parse_toml(_text(origin))
    except ValueError as error:
        raise InputError(f"{origin} is not valid TOML: {error}", hint="fix the file") from error
    table = document.get("mcp_servers")
    return {name: _from_codex(raw) for name, raw in table.items()} if isinstance(table, dict) else {}


def _from_codex(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    entry: dict[str, Any] = {key: raw[key] for key in ("command", "args", "env") if key in raw}
    forwarded = raw.get("env_vars")
    if isinstance(forwarded, list):
        entry["env"] = {**_table(raw, "env"), **{name: f"${{{name}}}" for name in forwarded if isinstance(name, str)}}
    if "url" in raw:
        headers = {**_table(raw, "http_headers")}
        headers |= {key: f"${{{name}}}" for key, name in _table(raw, "env_http_headers").items()}
        if isinstance(raw.get("bearer_token_env_var"), str):
            headers["Authorization"] = f"Bearer ${{{raw['bearer_token_env_var']}}}"
        entry |= {"type": "http", "url": raw["url"]} | ({"headers": headers} if headers else {})
    if isinstance(raw.get("tool_timeout_sec"), int | float):
        entry["timeout"] = int(raw["tool_timeout_sec"] * 1000)
    if raw.get("enabled") is False:
        entry["disabled"] = True
    return entry


def _table(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}
