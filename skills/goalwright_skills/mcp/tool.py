"""A tool of an MCP server, as a run offers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.mcp import calls
from goalwright_skills.mcp.answering import envelope_of
from goalwright_skills.mcp.connections.faults import ServerEnded
from goalwright_skills.mcp.offered import McpOffered
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.effects import Effects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.mcp.connections.answers import CallAnswer
    from goalwright_skills.tools.envelope import Envelope

_OUTSIDE = Effects("outside")


@dataclass(frozen=True, slots=True)
class McpTool(McpOffered):
    """A server's tool under its recorded name, description and parameters; the server is looked up at the call."""

    def effects(self, _: Mapping[str, Any]) -> Effects:
        """What a call can change: what the server says, if it still has this tool, else anything."""
        listed = self.servers.find(self.name)
        return listed.effects if listed is not None else _OUTSIDE

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call it, starting its server if need be; every failure is an envelope."""
        reader = self.reader(join_surrogates(dict(arguments)))
        answer = self._answer(reader.context.params_input)
        return await envelope_of(answer, reader, lambda: self.servers.find(self.name) is not None)

    async def read(self, server: str, uri: str) -> Envelope:
        """Read a resource, whether or not tools for that are offered."""
        with self.servers.held():
            answer = calls.read_resource(self.servers, server, uri)
            return await envelope_of(answer, self.reader({"server": server, "uri": uri}), lambda: True)

    async def _answer(self, arguments: Mapping[str, Any]) -> CallAnswer:
        try:
            return await calls.call(self.servers, self.name, arguments)
        except ServerEnded:
            if not self.effects(arguments).repeatable:  # it may have done its work before it ended
                raise
            return await calls.call(self.servers, self.name, arguments)
