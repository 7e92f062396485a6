"""The tools and prompts that an MCP server lists, and the cache of these lists."""

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

MAX_TOOLS = 1_000
_DESCRIPTION_LIMIT = 2_000
_SCHEMA_LIMIT = 20_000
_DAY = 24 * 3600.0
_VERSION = 2
_NAME_LIMIT = 100
_MAX_ARGUMENTS = 50
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
    """A tool of a server: its name for models, its original name, and its description, schema and hints."""

    name: str
    server: str
    tool: str
    description: str
    parameters: Mapping[str, Any]
    read_only: bool = False
    idempotent: bool = False

    @property
    def offered_parameters(self) -> dict[str, Any]:
        """The parameters for models, without the draft of JSON Schema."""
        return {key: value for key, value in self.parameters.items() if key != "$schema"}

    @property
    def effects(self) -> Effects:
        """The effects of a call by the server's hints, which the user trusts with the tool list."""
        return READ_ONLY if self.read_only else Effects("outside", idempotent=self.idempotent)


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """A prompt of a server: its name, description and arguments; the first `required` arguments are required."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...] = ()
    required: int = 0

    @property
    def skill_name(self) -> str:
        """The name among skills."""
        return prompt_name(self.server, self.name)

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments as a JSON schema of type object."""
        properties = {name: {"type": "string"} for name in self.arguments}
        required = list(self.arguments[: self.required])
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools and prompts of a server at a time; `digest` is the hash of its complete answer."""

    tools: tuple[ListedTool, ...]
    digest: str
    at: float = field(default_factory=time.time)
    warnings: tuple[str, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    resources: bool = False

    @property
    def is_old(self) -> bool:
        """Whether planning requests a new list."""
        return not 0 <= time.time() - self.at < _DAY


def tool_list(
    server: str,
    rows: Sequence[Mapping[str, Any]],
    prompts: Sequence[Mapping[str, Any]] = (),
    *,
    resources: bool = False,
) -> ToolList:
    """Build the list from a server's answer; tools that a model could not call are dropped with a warning."""
    rows = [join_surrogates(dict(row)) for row in rows]
    prompts = [join_surrogates(dict(row)) for row in prompts[:MAX_TOOLS]]
    answer = [rows, prompts] if prompts else rows
    digest = hashlib.sha256(json.dumps(answer, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    tools: dict[str, ListedTool] = {}
    warnings = []
    for row in rows[:MAX_TOOLS]:
        original, schema = str(row.get("name", "")), _schema(row.get("inputSchema"))
        name = tool_name(server, original)
        if schema is None:
            warnings.append(f"{name} is dropped: its parameters are longer than {_SCHEMA_LIMIT:,} characters")
        elif name in tools:
            problem = f"the tool {original!r:.80} of the MCP server {server!r} is dropped"
            warnings.append(f"{problem}: another tool has the name {name}")
        else:
            hints: dict[str, Any] = row["annotations"] if isinstance(row.get("annotations"), dict) else {}
            description = _plain_text(str(row.get("description") or row.get("title") or original))
            flags = (hints.get("readOnlyHint") is True, hints.get("idempotentHint") is True)
            tools[name] = ListedTool(name, server, original, shorten(description, _DESCRIPTION_LIMIT), schema, *flags)
    if len(rows) > MAX_TOOLS:
        warnings.append(f"the MCP server {server!r} has {len(rows):,} tools: only the first {MAX_TOOLS:,} are used")
    by_name: dict[str, ListedPrompt] = {}
    for prompt in (_prompt(server, row) for row in prompts):
        if by_name.setdefault(prompt.skill_name, prompt) is not prompt:
            problem = f"the prompt {prompt.name!r:.80} of the MCP server {server!r} is dropped"
            warnings.append(f"{problem}: another prompt has the name {prompt.skill_name}")
    listed = tuple(by_name.values())
    return ToolList(tuple(tools.values()), digest, warnings=tuple(warnings), prompts=listed, resources=resources)


def _prompt(server: str, row: Mapping[str, Any]) -> ListedPrompt:
    arguments = row.get("arguments")
    arguments = [part for part in arguments if isinstance(part, dict)] if isinstance(arguments, list) else []
    required: list[str] = []
    optional: list[str] = []
    for argument in arguments:
        name = _plain_text(str(argument.get("name", "")))[:_NAME_LIMIT]
        (required if argument.get("required") is True else optional).append(name)
    description = shorten(
        _plain_text(str(row.get("description") or row.get("title") or row.get("name", ""))), _DESCRIPTION_LIMIT
    )
    name = str(row.get("name", ""))[:_NAME_LIMIT]
    return ListedPrompt(server, name, description, (*required, *optional)[:_MAX_ARGUMENTS], len(required))


def _schema(value: Any) -> dict[str, Any] | None:
    """Return the parameters as a JSON schema of type object; None if it is too long."""
    schema = dict(value) if isinstance(value, dict) else {}
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
    """Remove control characters and invisible characters from a description."""
    return printable(text, kept="\n\t").strip()


def save(folder: Path, key: str, listed: ToolList) -> None:
    """Cache a list for the next run; a cache that cannot be written is skipped."""
    text = json.dumps({"v": _VERSION, **asdict(listed)}, ensure_ascii=False)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        safe_files.write(folder / f"{key}.json", text, below=folder)


def load(folder: Path, key: str) -> ToolList | None:
    """Load the cached list of an entry; None if there is none."""
    try:
        document = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        if document.pop("v") != _VERSION:
            return None
        tools = tuple(ListedTool(**row) for row in document.pop("tools"))
        prompts = tuple(ListedPrompt(**row | {"arguments": tuple(row["arguments"])}) for row in document.pop("prompts"))
        return ToolList(tools, **document | {"warnings": tuple(document["warnings"]), "prompts": prompts})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
