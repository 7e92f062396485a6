"""How long a call to a local model may take, by the measured speed of this machine."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.errors import TooSlow

if TYPE_CHECKING:
    from goalwright.models.local.serving.speed import Speed
    from goalwright_planner.model import Role

# What a call has at least, and where the speed is not known: a model on a busy machine is slow, but not gone.
SHORTEST = 900.0
# A call has this many times what it takes on a quiet machine: others may use it too.
PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class LocalLimits:
    """The limits that settings give, in seconds; None where nothing is limited, or the speed shall decide."""

    call_timeout: float | None = None
    task_timeout: float | None = None
    timeout: float | None = None

    def for_call(self, size: CallSize, role: Role, speed: Speed | None, at_once: int) -> float:
        """The time limit of a call beside others; raises TooSlow if it cannot end within the settings' limits."""
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
            key=lambda one: one[1],
            default=("", float("inf")),
        )
        # The answer may be a single token, so only the prompt says what a call takes at least.
        least = speed.seconds(size.prompt - size.cached, 1)
        if least <= limit:
            return
        enough = PATIENCE * speed.seconds(size.prompt, size.answer)
        raise TooSlow(
            f"a prompt of {size.prompt:,} tokens takes at least {least:,.0f} s on this machine, "
            f"which reads {1 / speed.prompt:.1f} tokens a second, and {name} is {limit:g} s",
            hint=f"set {name} to {enough:.0f} or more, give the model less to read, or choose a smaller local model or "
            "another one with --model; `goalwright doctor` says whether a faster backend can be had",
        )


@dataclass(frozen=True, slots=True)
class CallSize:
    """The tokens of a call: its prompt, the most it answers, and how many of its prompt were evaluated before."""

    prompt: int
    answer: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class RecentPrompts:
    """The prompts that a server got last, whose beginnings it need not evaluate again."""

    texts: deque[str] = field(default_factory=lambda: deque(maxlen=8))

    def cached(self, text: str, tokens: int) -> int:
        """How many tokens of this prompt were evaluated before, by its characters; an estimate, rather too many."""
        shared = max((_shared(text, earlier) for earlier in self.texts), default=0)
        return tokens * shared // max(1, len(text))


def _shared(text: str, other: str) -> int:
    """The length of the beginning that both have."""
    return next(
        (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), min(len(text), len(other))
    )
