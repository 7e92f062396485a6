"""How a server fails."""

from __future__ import annotations

from goalwright_skills.mcp.entry import McpFault

_CONNECTION_CLOSED = "Connection closed"  # its code, -32000, is one that servers answer with too


class ServerEnded(McpFault):
    """The server ended, or its connection broke, while a call was under way."""

    code = "MCP_ENDED"


class NoAnswer(McpFault):
    """The server did not answer in time."""

    code = "TIMEOUT"


def too_slow(server: str, seconds: float) -> NoAnswer:
    """That a server did not answer within this time."""
    what = f"the MCP server {server!r} did not answer within {seconds:g} s"
    return NoAnswer(what, hint="try a smaller request, or raise `timeout` (milliseconds) in its entry")


def root(error: BaseException | None) -> BaseException | None:
    """The first error in groups of errors, which anyio raises."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_answer(error: BaseException | None) -> bool:
    """Whether a server answered with this error; the package raises one of the same kind if the connection closes."""
    return type(error).__name__ == "MCPError" and str(error) != _CONNECTION_CLOSED


def is_broken(error: Exception) -> bool:
    """Whether the streams to a server are closed."""
    return type(root(error)).__name__ in ("ClosedResourceError", "BrokenResourceError", "EndOfStream")
