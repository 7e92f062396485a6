"""Cuts prompts to fit a small context window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_planner.errors import PromptTooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_planner.model import Message

CUT = "\n[…]\n"
# A message keeps at least this many characters.
MIN_CHARACTERS = 48


def fitted(messages: Sequence[Message], count: Callable[[Sequence[Message]], int], limit: int) -> tuple[Message, ...]:
    """Cut the longest messages in the middle until `count` is within the limit."""
    fitting = list(messages)
    while (tokens := count(fitting)) > limit:
        longest = max(range(len(fitting)), key=lambda index: len(fitting[index].content))
        text = fitting[longest].content
        share = tokens * len(text) / sum(len(message.content) for message in fitting)
        # A little less than its share, since tokens are not spread evenly over the text.
        room = max(MIN_CHARACTERS, int(0.95 * len(text) * (share - (tokens - limit)) / share) - len(CUT))
        if room + len(CUT) >= len(text):
            raise PromptTooLong(
                f"the prompt takes {tokens} tokens even when shortened, and only {limit} fit",
                hint="use a model with a larger context window",
            )
        head = room * 2 // 3
        fitting[longest] = replace(fitting[longest], content=text[:head] + CUT + text[len(text) - (room - head) :])
    return tuple(fitting)
