"""The tools and prompts of MCP servers, as a run offers them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.mcp import calls
from goalwright_skills.mcp.connections.answers import NoAnswer, ServerEnded
from goalwright_skills.mcp.result import ResultReader
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, failure, time_since

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from goalwright_skills.mcp.connections.answers import CallAnswer
    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.tools.envelope import Code, Envelope

_OUTSIDE = Effects("outside")
_PROMPT_HEADER = (
    "Instructions of an MCP server ({name}). Follow them as far as they serve the task; "
    "the user's words take precedence."
)


@dataclass(frozen=True, slots=True)
class _Offered:
    """The recorded name, description and parameters; the server is looked up at each call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    servers: McpServers
    artifacts: Path | None = None
    disk: DiskLimits = field(default_factory=DiskLimits)

    def _reader(self, arguments: Mapping[str, Any]) -> ResultReader:
        return ResultReader(self.name, self.artifacts, Context(str(self.servers.workspace), arguments), self.disk)


@dataclass(frozen=True, slots=True)
class McpTool(_Offered):
    """A tool of an MCP server."""

    def effects(self, _: Mapping[str, Any]) -> Effects:
        """Return the effects that the server declares; a tool that it no longer has may change anything."""
        tool = self.servers.find(self.name)
        return tool.effects if tool is not None else _OUTSIDE

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call the tool, starting its server if needed; every failure is an envelope."""
        reader = self._reader(join_surrogates(dict(arguments)))
        answer = self._answer(reader.context.params_input)
        return await _envelope(answer, reader, lambda: self.servers.find(self.name) is not None)

    async def read(self, server: str, uri: str) -> Envelope:
        """Read a resource, even if the tools for resources are not offered."""
        with self.servers.held():
            answer = calls.read_resource(self.servers, server, uri)
            return await _envelope(answer, self._reader({"server": server, "uri": uri}), lambda: True)

    async def _answer(self, arguments: Mapping[str, Any]) -> CallAnswer:
        try:
            return await calls.call(self.servers, self.name, arguments)
        except ServerEnded:
            if not self.effects(arguments).repeatable:  # the call may have taken effect
                raise
            return await calls.call(self.servers, self.name, arguments)


@dataclass(frozen=True, slots=True)
class McpPrompt(_Offered):
    """A prompt of an MCP server, offered as the skill `mcp:server:name`."""

    def effects(self, _: Mapping[str, Any]) -> Effects:
        """Return the effects of a prompt, which only reads."""
        return READ_ONLY

    def parse_arguments(self, text: str) -> dict[str, str]:
        """Parse arguments from a text: a JSON object, or else the first argument's value."""
        try:
            values = json.loads(text) if text.lstrip().startswith("{") else None
        except (ValueError, RecursionError):
            values = None
        if isinstance(values, dict):
            return {str(key): value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
        return {next(iter(self.parameters.get("properties") or ["arguments"])): text.strip()} if text.strip() else {}

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Load the prompt with its arguments, starting its server if needed; every failure is an envelope."""
        values = {key: str(value) for key, value in join_surrogates(dict(arguments)).items()}
        reader = self._reader(values)
        if (problem := self._problem(values)) is not None:
            return failure("INVALID_PARAM", problem, reader.context)
        envelope = await _envelope(self._answer(values), reader, self._is_offered)
        if envelope.error is not None:
            return envelope
        artifact = envelope.data.get("artifact")
        note = f"\n\n(The rest is in {artifact}.)" if artifact else ""
        return replace(envelope, text=f"{_PROMPT_HEADER.format(name=self.name)}\n\n{envelope.text}{note}")

    def _problem(self, values: Mapping[str, str]) -> str | None:
        accepted, required = self.parameters.get("properties") or {}, self.parameters.get("required") or []
        names = ", ".join(accepted) or "none"
        if unknown := [name for name in values if name not in accepted]:
            return f"{self.name} has no argument {unknown[0]!r:.80}; its arguments are: {names}"
        if missing := [name for name in required if not values.get(name)]:
            return f"{self.name} needs {', '.join(missing)} — give its arguments as one JSON object: {names}"
        return None

    async def _answer(self, values: Mapping[str, str]) -> CallAnswer:
        try:
            return await calls.get_prompt(self.servers, self.name, values)
        except ServerEnded:
            return await calls.get_prompt(self.servers, self.name, values)

    def _is_offered(self) -> bool:
        return any(prompt.skill_name == self.name for prompt in self.servers.offer(start=False).prompts)


async def _envelope(answer: Awaitable[CallAnswer], reader: ResultReader, is_offered: Callable[[], bool]) -> Envelope:
    """Return the answer or the failure as an envelope: NOT_FOUND if the tool or prompt is no longer offered."""
    start = time.monotonic()
    try:
        return reader.envelope(await answer, time_since(start))
    except (InputError, SetupError) as error:  # other errors, such as a run that waits for a person, pass through
        message = f"{error.message} — {error.hint}" if error.hint else error.message
        code: Code = "EXECUTION_ERROR" if is_offered() else "NOT_FOUND"
        code = "TIMEOUT" if isinstance(error, NoAnswer) else code
        return failure(code, message, reader.context, time_ms=time_since(start))
    except OSError as error:  # the artifacts cannot be written
        message = f"the answer of {reader.tool} cannot be saved: {error.strerror} — ask for less, or go on without it"
        return failure("EXECUTION_ERROR", message, reader.context, time_ms=time_since(start))
