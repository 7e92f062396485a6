"""A tool of an MCP server, as a run offers it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft_skills.errors import WeftError
from weft_skills.mcp.connection import NoAnswer, ServerEnded
from weft_skills.mcp.result import ResultReader
from weft_skills.text.surrogates import join_surrogates
from weft_skills.tools.disk_use import DiskLimits
from weft_skills.tools.effects import Effects
from weft_skills.tools.envelope import Context, Envelope, failure, time_since

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weft_skills.mcp.connection import CallAnswer
    from weft_skills.mcp.servers import McpServers
    from weft_skills.tools.envelope import Code

_OUTSIDE = Effects("outside")


@dataclass(frozen=True, slots=True)
class McpTool:
    """A server's tool under its recorded name, description and parameters; the server is looked up at the call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    servers: McpServers
    artifacts: Path | None = None
    disk: DiskLimits = field(default_factory=DiskLimits)

    def effects(self, _: Mapping[str, Any]) -> Effects:
        """What a call can change: what the server says, if it still has this tool, else anything."""
        listed = self.servers.find(self.name)
        return listed.effects if listed is not None else _OUTSIDE

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call it, starting its server if need be; every failure is an envelope."""
        start = time.monotonic()
        context = Context(str(self.servers.workspace), join_surrogates(dict(arguments)))
        try:
            answer = await self._answer(context.params_input)
            return ResultReader(self.name, self.artifacts, context, self.disk).envelope(answer, time_since(start))
        except NoAnswer as error:
            return _failed("TIMEOUT", error, context, start)
        except WeftError as error:
            known = self.servers.find(self.name) is not None
            return _failed("EXECUTION_ERROR" if known else "NOT_FOUND", error, context, start)
        except OSError as error:  # the artifacts cannot be written
            what = f"what {self.name} answered cannot be kept: {error.strerror} — ask for less, or go on without it"
            return failure("EXECUTION_ERROR", what, context, time_ms=time_since(start))

    async def read(self, server: str, uri: str) -> Envelope:
        """Read a resource, whether or not tools for that are offered."""
        start = time.monotonic()
        context = Context(str(self.servers.workspace), {"server": server, "uri": uri})
        try:
            with self.servers.held():
                answer = await self.servers.read_resource(server, uri)
            return ResultReader(self.name, self.artifacts, context, self.disk).envelope(answer, time_since(start))
        except WeftError as error:
            return _failed("TIMEOUT" if isinstance(error, NoAnswer) else "EXECUTION_ERROR", error, context, start)

    async def _answer(self, arguments: Mapping[str, Any]) -> CallAnswer:
        try:
            return await self.servers.call(self.name, arguments)
        except ServerEnded:
            if not self.effects(arguments).repeatable:  # it may have done its work before it ended
                raise
            return await self.servers.call(self.name, arguments)


def _failed(code: Code, error: WeftError, context: Context, start: float) -> Envelope:
    message = f"{error.message} — {error.hint}" if error.hint else error.message
    return failure(code, message, context, time_ms=time_since(start))
