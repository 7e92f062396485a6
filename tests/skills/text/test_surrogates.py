"""Characters that JSON escapes in halves."""

from __future__ import annotations

import pytest

from goalwright_skills.text.surrogates import join_surrogates


@pytest.mark.parametrize(
    ("value", "joined"),
    [
        ("plain ä 世", "plain ä 世"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud800b", "a\ufffdb"),
        ({"k\udc00": ["\ud83d\ude00", 1, None]}, {"k\ufffd": ["\U0001f600", 1, None]}),
    ],
)
def test_pairs_are_joined_and_lone_halves_replaced(value: object, joined: object) -> None:
    assert join_surrogates(value) == joined


def test_a_value_without_surrogates_is_returned_as_it_is() -> None:
    value = {"a": ["ä"]}
    assert join_surrogates(value) is value
