"""Cut prompts to fit a small context window, counting their tokens before every call."""

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
    """The messages, with the longest cut in the middle until `count` is within the limit."""
    fitting = list(messages)
    while (tokens := count(fitting)) > limit:
        place = max(range(len(fitting)), key=lambda at: len(fitting[at].content))
        text = fitting[place].content
        share = tokens * len(text) / sum(len(message.content) for message in fitting)
        # A little less than its share, because tokens are not spread evenly over the text.
        room = max(MIN_CHARACTERS, int(0.95 * len(text) * (share - (tokens - limit)) / share) - len(CUT))
        if room + len(CUT) >= len(text):
            raise PromptTooLong(
                f"the prompt takes {tokens} tokens even when shortened, and only {limit} fit",
                hint="use a model with a larger context window",
            )
        head = room * 2 // 3
        fitting[place] = replace(fitting[place], content=text[:head] + CUT + text[len(text) - (room - head) :])
    return tuple(fitting)
