"""The files that name MCP servers: `.mcp.json` of the workspace and `mcp.json` of the user."""

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
# Where servers come from that no file names.
GIVEN = Path("the editor")
_LIMIT = 1_000_000
_NAME_LIMIT = 100
# What Claude Code, Cursor and others write, and what VS Code writes.
_KEYS = ("mcpServers", "servers")


def read(
    workspace: Path, user_file: Path, given: Mapping[str, Any] | None = None
) -> tuple[list[ServerEntry], list[str]]:
    """The servers that were given, those of the workspace and the user's, and warnings.

    Of two with one name the first counts.
    """
    found: dict[str, ServerEntry] = {}
    warnings: list[str] = []
    sources = [entries_in(given, GIVEN, "user")] if given else []
    sources += [read_file(workspace / FILE, "workspace"), read_file(user_file, "user")]
    for entries, faulty in sources:
        warnings += faulty
        for entry in entries:
            if entry.name in found:
                other = found[entry.name].file
                warnings.append(
                    f"{entry.file}: the MCP server {entry.name!r} is not used, because {other} has one of the same name"
                )
            found.setdefault(entry.name, entry)
    warnings += [
        f"{server.file}: the MCP server {server.name!r} {server.fault}" for server in found.values() if server.fault
    ]
    return list(found.values()), warnings


def read_file(file: Path, source: EntrySource) -> tuple[list[ServerEntry], list[str]]:
    """The servers in one file; a file that cannot be read has none, and a warning."""
    try:
        document = parse_json(untrusted_files.read_text(file, _LIMIT))
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:
        return [], [f"{file}: {_first_line(error)}; its MCP servers are ignored until that is fixed"]
    return entries_in(document, file, source)


def entries_in(document: Any, file: Path, source: EntrySource) -> tuple[list[ServerEntry], list[str]]:
    """The servers in a document of any of the known forms."""
    tables = [document[key] for key in _KEYS if isinstance(document, dict) and key in document]
    if not tables or not all(isinstance(table, dict) for table in tables):
        return [], [f"{file} has no object 'mcpServers'; its MCP servers are ignored"]
    rows = {str(name): raw for table in tables for name, raw in table.items()}
    return [_entry(name, raw, file, source) for name, raw in rows.items()], []


def _entry(name: str, raw: Any, file: Path, source: EntrySource) -> ServerEntry:
    found = list(faults(raw))
    if not name or len(name) > _NAME_LIMIT or not name.isprintable():
        found.append(f"has a name that is empty, not printable or longer than {_NAME_LIMIT} characters")
    shown = printable(name, "�")[:_NAME_LIMIT]
    return ServerEntry(shown, source, file, raw if isinstance(raw, dict) else {}, "; it ".join(found))


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
