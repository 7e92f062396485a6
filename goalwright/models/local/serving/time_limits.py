"""Time limits of calls to a local model, from the measured speed of this machine."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.errors import TooSlow

if TYPE_CHECKING:
    from goalwright.models.local.serving.speed import Speed
    from goalwright_planner.model import Role

# The shortest time limit, and the one for unknown speed: on a busy machine a model may be slow for a while.
SHORTEST = 900.0
# The time limit is this many times the duration on an idle machine.
PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class LocalLimits:
    """The limits of the settings, in seconds; None if there is none, or it follows from the speed."""

    call_timeout: float | None = None
    task_timeout: float | None = None
    timeout: float | None = None

    def for_call(self, size: CallSize, role: Role, speed: Speed | None, at_once: int) -> float:
        """The time limit of a call among `at_once` parallel ones; raises TooSlow if it exceeds the settings' limits."""
        if speed is not None:
            self._check(size, role, speed)
        if self.call_timeout is not None:
            return self.call_timeout
        if speed is None:
            return SHORTEST
        return max(SHORTEST, PATIENCE * at_once * speed.seconds(size.prompt, size.answer))

    def _check(self, size: CallSize, role: Role, speed: Speed) -> None:
        limits = {
            "call_timeout": self.call_timeout,
            "task_timeout": self.task_timeout if role == "task" else None,
            "timeout": self.timeout,
        }
        name, limit = min(
            ((name, limit) for name, limit in limits.items() if limit is not None),
            key=lambda row: row[1],
            default=("", float("inf")),
        )
        # The answer may be a single token, so the prompt alone determines the shortest duration.
        least = speed.seconds(size.prompt - size.cached, 1)
        if least <= limit:
            return
        enough = PATIENCE * speed.seconds(size.prompt, size.answer)
        raise TooSlow(
            f"a prompt of {size.prompt:,} tokens takes at least {least:,.0f} s on this machine, "
            f"which reads {1 / speed.prompt:.1f} tokens a second, and {name} is {limit:g} s",
            hint=f"set {name} to {enough:.0f} or more, shorten the prompt, or choose a smaller or another model; "
            "`goalwright doctor` shows whether a faster backend is available",
        )


@dataclass(frozen=True, slots=True)
class CallSize:
    """The tokens of a call: its prompt, its longest answer, and the cached part of its prompt."""

    prompt: int
    answer: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class RecentPrompts:
    """The last prompts of a server, which has their beginnings cached."""

    texts: deque[str] = field(default_factory=lambda: deque(maxlen=8))

    def cached(self, text: str, tokens: int) -> int:
        """Estimate the cached tokens of this prompt from its characters, rather too many than too few."""
        shared = max((_common_prefix(text, earlier) for earlier in self.texts), default=0)
        return tokens * shared // max(1, len(text))


def _common_prefix(text: str, other: str) -> int:
    pairs = enumerate(zip(text, other, strict=False))
    return next((length for length, (one, two) in pairs if one != two), min(len(text), len(other)))
