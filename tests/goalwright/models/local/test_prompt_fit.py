"""Prompts are cut to fit the context window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.serving.prompt_fit import CUT, fitted
from goalwright_planner.errors import PromptTooLong
from goalwright_planner.model import Message

if TYPE_CHECKING:
    from collections.abc import Sequence


def words(messages: Sequence[Message]) -> int:
    return sum(len(message.content.split()) for message in messages)


def test_messages_that_fit_are_unchanged() -> None:
    messages = (Message("user", "a few words"),)
    assert fitted(messages, words, 3) == messages


def test_the_longest_message_is_cut_in_the_middle_until_all_fit() -> None:
    long = " ".join(f"w{number}" for number in range(1000))
    messages = (Message("system", long), Message("user", "the goal"))
    fitting = fitted(messages, words, 200)
    assert words(fitting) <= 200
    assert fitting[1] == messages[1]
    assert fitting[0].content.startswith("w0 w1 ")
    assert fitting[0].content.endswith(" w999")
    assert CUT in fitting[0].content
    assert words(fitted(messages, words, 20)) <= 20


def test_prompt_that_cannot_fit_is_an_error() -> None:
    with pytest.raises(PromptTooLong, match="even when shortened"):
        fitted((Message("user", "hello"),), lambda _: 50, 10)
