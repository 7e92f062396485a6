"""Reads the executable tools in a folder's `skill.yaml`.

`parse` is pure except that it checks whether each entry file exists. An invalid tool is left out and reported as a
problem; the other tools in the file are not affected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills import untrusted_files
from goalwright_skills.format.yaml_lines import SIZE_LIMIT, Document, DocumentError, Spot
from goalwright_skills.programs.declaration import Declaration
from goalwright_skills.programs.manifest import FILE, Manifest
from goalwright_skills.skill import Problem

if TYPE_CHECKING:
    from pathlib import Path

TOOLS_LIMIT = 200
FORM = "manifest-form"


def read(folder: Path) -> tuple[list[Manifest], list[Problem]]:
    """Read the tools in a folder's `skill.yaml` and its problems; both are empty if there is no such file."""
    path = folder / FILE
    try:
        return parse(untrusted_files.read_text(path, 4 * SIZE_LIMIT), folder)
    except FileNotFoundError:
        return [], []
    except UnicodeDecodeError as error:
        return [], [Problem(path, 1, f"is not UTF-8 text ({error.reason})", "save it as UTF-8", FORM)]
    except OSError as error:
        return [], [Problem(path, 1, f"cannot be read ({error.strerror})", "check the file and its permissions", FORM)]


def parse(text: str, folder: Path) -> tuple[list[Manifest], list[Problem]]:
    """Parse the tools that a text declares for a folder, and all its problems."""
    path = folder / FILE
    try:
        document = Document.parse(text)
    except DocumentError as error:
        return [], [Problem(path, error.line, error.what, error.remedy, FORM)]
    entries, problems = _entries(document, path)
    manifests: dict[str, Manifest] = {}
    for data, spot in entries:
        manifest, faults = Declaration(data, spot, folder).manifest()
        problems += faults
        if manifest is None:
            continue
        if manifest.name in manifests:
            problem, remedy = f"declares {manifest.name} twice", "give each tool its own name"
            problems.append(Problem(path, manifest.line, problem, remedy, "manifest-name", manifest.name))
            continue
        manifests[manifest.name] = manifest
    return list(manifests.values()), problems


Entries = list[tuple[dict[str, Any], Spot]]


def _entries(document: Document, path: Path) -> tuple[Entries, list[Problem]]:
    """Return each tool's mapping and position; keys next to `tools:` are defaults for every tool."""
    data = document.data
    if not isinstance(data, dict):
        remedy = "write name, description, runtime and entry as keys"
        return [], [Problem(path, 1, "is not a mapping", remedy, FORM)]
    if "tools" not in data:
        return [(data, Spot(document))], []
    tools = data["tools"]
    line = document.line(("tools",))
    if not isinstance(tools, list) or not tools:
        return [], [Problem(path, line, "tools is not a list of tools", "write each tool as `- name: …`", FORM)]
    if len(tools) > TOOLS_LIMIT:
        problem = f"declares {len(tools)} tools"
        return [], [Problem(path, line, problem, f"split it: at most {TOOLS_LIMIT} tools in a folder", FORM)]
    shared = {key: value for key, value in data.items() if key not in {"tools", "name"}}
    entries: Entries = []
    problems: list[Problem] = []
    for index, tool in enumerate(tools):
        spot = Spot(document, ("tools", index))
        if isinstance(tool, dict):
            entries.append((shared | tool, spot))
        else:
            problem = f"tools[{index}] is not a mapping"
            problems.append(Problem(path, spot.line(), problem, "write it as `- name: …`", FORM))
    return entries, problems
