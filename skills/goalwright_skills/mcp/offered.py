"""What a tool and a prompt of a server have in common, as a run offers them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.mcp.result import ResultReader
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.envelope import Context

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.mcp.servers import McpServers


@dataclass(frozen=True, slots=True)
class McpOffered:
    """Its recorded name, description and parameters; the server is looked up when it is called."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    servers: McpServers
    artifacts: Path | None = None
    disk: DiskLimits = field(default_factory=DiskLimits)

    def reader(self, arguments: Mapping[str, Any]) -> ResultReader:
        """What makes envelopes of the answers to a call."""
        return ResultReader(self.name, self.artifacts, Context(str(self.servers.workspace), arguments), self.disk)
