"""The configuration files of MCP servers: `.mcp.json` of the workspace and `mcp.json` of the user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import untrusted_files
from goalwright_skills.format.documents import parse_json
from goalwright_skills.mcp.entry import ServerEntry, faults
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.mcp.entry import EntrySource

FILE = ".mcp.json"
# The origin of servers that an editor configures for a session.
EDITOR = Path("the editor")
_LIMIT = 1_000_000
_NAME_LIMIT = 100
# `servers` is the key that VS Code writes.
_KEYS = ("mcpServers", "servers")


def read(
    workspace: Path, user_file: Path, session: Mapping[str, Any] | None = None
) -> tuple[list[ServerEntry], list[str]]:
    """Return the servers of the session, the workspace and the user, and warnings.

    The first server of a name wins.
    """
    servers: dict[str, ServerEntry] = {}
    warnings: list[str] = []
    sources = [parse(session, EDITOR, "user")] if session else []
    sources += [read_file(workspace / FILE, "workspace"), read_file(user_file, "user")]
    for entries, problems in sources:
        warnings += problems
        for entry in entries:
            if entry.name in servers:
                other = servers[entry.name].file
                warnings.append(
                    f"{entry.file}: the MCP server {entry.name!r} is not used, because {other} has one of the same name"
                )
            servers.setdefault(entry.name, entry)
    warnings += [
        f"{server.file}: the MCP server {server.name!r} {server.fault}" for server in servers.values() if server.fault
    ]
    return list(servers.values()), warnings


def read_file(file: Path, source: EntrySource) -> tuple[list[ServerEntry], list[str]]:
    """Return the servers in a file and warnings; an unreadable file causes a warning."""
    try:
        document = parse_json(untrusted_files.read_text(file, _LIMIT))
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:
        return [], [f"{file}: {_first_line(error)}; its MCP servers are ignored until this is fixed"]
    return parse(document, file, source)


def parse(document: Any, file: Path, source: EntrySource) -> tuple[list[ServerEntry], list[str]]:
    """Return the servers in a document and warnings."""
    tables = [document[key] for key in _KEYS if isinstance(document, dict) and key in document]
    if not tables or not all(isinstance(table, dict) for table in tables):
        return [], [f"{file} has no object 'mcpServers'; its MCP servers are ignored"]
    rows = {str(name): raw for table in tables for name, raw in table.items()}
    return [_entry(name, raw, file, source) for name, raw in rows.items()], []


def _entry(name: str, raw: Any, file: Path, source: EntrySource) -> ServerEntry:
    problems = list(faults(raw))
    if not name or len(name) > _NAME_LIMIT or not name.isprintable():
        problems.append(f"has a name that is empty, not printable or longer than {_NAME_LIMIT} characters")
    shown = printable(name, "�")[:_NAME_LIMIT]
    return ServerEntry(shown, source, file, raw if isinstance(raw, dict) else {}, "; it ".join(problems))


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
