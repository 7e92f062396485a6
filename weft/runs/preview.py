"""What a run would start with, without running it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.model import Message
    from skills.selection.detector import Selection


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would start with; `prompt_tokens` is a rough estimate."""

    selections: tuple[Selection, ...]
    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The preview as `run --dry-run --json` prints it."""
        return {
            "selected": [asdict(one) for one in self.selections],
            "prompt": [{"role": message.role, "content": message.content} for message in self.messages],
            "estimate": {"prompt_tokens": self.prompt_tokens, "calls": self.calls},
        }
