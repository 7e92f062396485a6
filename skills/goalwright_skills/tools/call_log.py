"""What a call leaves for the trace and the tool's author, besides its envelope."""

from __future__ import annotations

from dataclasses import dataclass

# How much of each of its texts is kept: their ends.
LOG_LIMIT = 16 * 1024


@dataclass(frozen=True, slots=True)
class CallLog:
    """What a call wrote besides its answer: for the trace and the tool's author, not for the model."""

    tool: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


def no_log(_log: CallLog) -> None:
    """Drop the log."""


def tail(log: str) -> str:
    """The end of a text, as much as is kept of it."""
    dropped = len(log) - LOG_LIMIT
    return log if dropped <= 0 else f"[{dropped:,} characters dropped]\n{log[dropped:]}"
