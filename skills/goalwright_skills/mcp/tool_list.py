"""The tools of an MCP server as goalwright offers them, and the cache of such lists."""

from __future__ import annotations

import hashlib
import json
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.skill import PROMPT_PREFIX
from goalwright_skills.text.formatting import shorten
from goalwright_skills.text.untrusted import join_surrogates, printable
from goalwright_skills.tools.effects import READ_ONLY, Effects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MOST_TOOLS = 1_000
_DESCRIPTION_LIMIT = 2_000
_SCHEMA_LIMIT = 20_000
_DAY = 24 * 3600.0
_VERSION = 2
_NAME_LIMIT = 100
_TOOL_NAME_LIMIT = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """Return the name of a tool for models: `mcp__server__tool`, shortened with a hash if it is too long."""
    return _shortened(f"mcp__{_UNSAFE.sub('_', server)}__{_UNSAFE.sub('_', tool)}", server, tool)


def prompt_name(server: str, prompt: str) -> str:
    """Return the name of a prompt among skills: `mcp:server:prompt`, shortened like the name of a tool."""
    return _shortened(f"{PROMPT_PREFIX}{_UNSAFE.sub('_', server)}:{_UNSAFE.sub('_', prompt)}", server, prompt)


def _shortened(name: str, server: str, original: str) -> str:
    if len(name) <= _TOOL_NAME_LIMIT:
        return name
    digest = hashlib.sha256(f"{server}\0{original}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _TOOL_NAME_LIMIT - 9]}_{digest}"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A server's tool: the name for models, the server's own name, and what the server says about it."""

    name: str
    server: str
    tool: str
    description: str
    parameters: Mapping[str, Any]
    read_only: bool = False
    idempotent: bool = False

    @property
    def offered_parameters(self) -> dict[str, Any]:
        """The parameters as models are offered them: which draft of JSON Schema it is does not matter to them."""
        return {key: value for key, value in self.parameters.items() if key != "$schema"}

    @property
    def effects(self) -> Effects:
        """What a call can change, by what the server says: its list of tools is trusted, or it is not offered."""
        return READ_ONLY if self.read_only else Effects("outside", idempotent=self.idempotent)


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """A server's prompt: its name, what it is for, and the arguments that it takes, those that it needs first."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...] = ()
    required: int = 0

    @property
    def skill_name(self) -> str:
        """Its name among skills."""
        return prompt_name(self.server, self.name)

    @property
    def parameters(self) -> dict[str, Any]:
        """Its arguments as a JSON schema of type object."""
        texts = {name: {"type": "string"} for name in self.arguments}
        needed = list(self.arguments[: self.required])
        return {"type": "object", "properties": texts} | ({"required": needed} if needed else {})


@dataclass(frozen=True, slots=True)
class ToolList:
    """What a server offered at a time; `digest` is the hash of all that it said."""

    tools: tuple[ListedTool, ...]
    digest: str
    at: float = field(default_factory=time.time)
    warnings: tuple[str, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    resources: bool = False

    @property
    def is_old(self) -> bool:
        """Whether a planner asks for a new one."""
        return not 0 <= time.time() - self.at < _DAY


def tool_list(
    server: str,
    rows: Sequence[Mapping[str, Any]],
    prompts: Sequence[Mapping[str, Any]] = (),
    *,
    resources: bool = False,
) -> ToolList:
    """The list of a server's answer; tools that a model could not call are left out with a warning."""
    rows = [join_surrogates(dict(row)) for row in rows]
    prompts = [join_surrogates(dict(row)) for row in prompts[:MOST_TOOLS]]
    everything = [rows, prompts] if prompts else rows
    digest = hashlib.sha256(json.dumps(everything, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    found: dict[str, ListedTool] = {}
    warnings = []
    for row in rows[:MOST_TOOLS]:
        own, schema = str(row.get("name", "")), _schema(row.get("inputSchema"))
        name = tool_name(server, own)
        if schema is None:
            warnings.append(f"{name} is left out: its parameters are longer than {_SCHEMA_LIMIT:,} characters")
        elif name in found:
            warnings.append(f"the tool {own!r:.80} of the MCP server {server!r} is left out: another one is {name}")
        else:
            hints: dict[str, Any] = row["annotations"] if isinstance(row.get("annotations"), dict) else {}
            said = _plain_text(str(row.get("description") or row.get("title") or own))
            flags = (hints.get("readOnlyHint") is True, hints.get("idempotentHint") is True)
            found[name] = ListedTool(name, server, own, shorten(said, _DESCRIPTION_LIMIT), schema, *flags)
    if len(rows) > MOST_TOOLS:
        warnings.append(f"the MCP server {server!r} has {len(rows):,} tools: only the first {MOST_TOOLS:,} are used")
    offered: dict[str, ListedPrompt] = {}
    for prompt in (_prompt(server, row) for row in prompts):
        if offered.setdefault(prompt.skill_name, prompt) is not prompt:
            what = f"the prompt {prompt.name!r:.80} of the MCP server {server!r} is left out"
            warnings.append(f"{what}: another one is {prompt.skill_name}")
    every = tuple(offered.values())
    return ToolList(tuple(found.values()), digest, warnings=tuple(warnings), prompts=every, resources=resources)


def _prompt(server: str, row: Mapping[str, Any]) -> ListedPrompt:
    given = row.get("arguments")
    rows = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    needed = [_plain_text(str(part.get("name", "")))[:_NAME_LIMIT] for part in rows if part.get("required") is True]
    others = [_plain_text(str(part.get("name", "")))[:_NAME_LIMIT] for part in rows if part.get("required") is not True]
    said = _plain_text(str(row.get("description") or row.get("title") or row.get("name", "")))
    name = str(row.get("name", ""))[:_NAME_LIMIT]
    return ListedPrompt(server, name, shorten(said, _DESCRIPTION_LIMIT), (*needed, *others)[:50], len(needed))


def _schema(given: Any) -> dict[str, Any] | None:
    """The parameters as a JSON schema of type object that everything here can read; None if it is too long."""
    schema = dict(given) if isinstance(given, dict) else {}
    try:
        if len(json.dumps(schema)) > _SCHEMA_LIMIT:
            return None
    except RecursionError:
        return None
    properties = schema.get("properties")
    rows = properties.items() if isinstance(properties, dict) else ()
    required = schema.get("required")
    schema["type"] = "object"
    schema["properties"] = {str(key): value if isinstance(value, dict) else {} for key, value in rows}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {key: value for key, value in schema.items() if key != "required"} | ({"required": names} if names else {})


def _plain_text(text: str) -> str:
    """A description without what could steer a terminal or hide from a reader."""
    return printable(text, kept="\n\t").strip()


def save(folder: Path, key: str, listed: ToolList) -> None:
    """Keep a list for the next run; a cache that cannot be written is skipped."""
    text = json.dumps({"v": _VERSION, **asdict(listed)}, ensure_ascii=False)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        safe_files.write(folder / f"{key}.json", text, below=folder)


def load(folder: Path, key: str) -> ToolList | None:
    """The list that was kept for an entry; None if there is none."""
    try:
        document = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        if document.pop("v") != _VERSION:
            return None
        tools = tuple(ListedTool(**row) for row in document.pop("tools"))
        prompts = tuple(ListedPrompt(**row | {"arguments": tuple(row["arguments"])}) for row in document.pop("prompts"))
        return ToolList(tools, **document | {"warnings": tuple(document["warnings"]), "prompts": prompts})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
