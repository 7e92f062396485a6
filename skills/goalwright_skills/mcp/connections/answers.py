"""The answers of a server as plain JSON values, and the ways in which it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from goalwright_skills.mcp.entry import McpFault

# Servers also answer with its code, -32000, so only the text tells the two apart.
_CONNECTION_CLOSED = "Connection closed"


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """A server's answer to a call."""

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """The tools and prompts of a server as it lists them, and whether it has resources."""

    tools: list[dict[str, Any]]
    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: bool = False


CheckTools = Callable[[ServerOffer], None]


class ServerEnded(McpFault):
    """The server ended, or its connection broke, during a call."""

    code = "MCP_ENDED"


class NoAnswer(McpFault):
    """The server did not answer in time."""

    code = "TIMEOUT"


def timeout_error(server: str, seconds: float) -> NoAnswer:
    """Return the timeout error for a server."""
    message = f"the MCP server {server!r} did not answer within {seconds:g} s"
    return NoAnswer(message, hint="try a smaller request, or raise `timeout` (milliseconds) in its entry")


def root_cause(error: BaseException | None) -> BaseException | None:
    """Return the first error in nested exception groups, which anyio raises."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_answer(error: BaseException | None) -> bool:
    """Whether the server answered with this error; the package raises the same class for a closed connection."""
    return type(error).__name__ == "MCPError" and str(error) != _CONNECTION_CLOSED


def is_disconnect(error: Exception) -> bool:
    """Whether the streams to the server are closed."""
    return type(root_cause(error)).__name__ in ("ClosedResourceError", "BrokenResourceError", "EndOfStream")
