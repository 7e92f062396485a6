"""Everyday words, recognized by their terms."""

from __future__ import annotations

import pytest

from goalwright_skills.selection.query.goal_words import EVERYDAY_WORDS, is_everyday
from goalwright_skills.selection.query.terms import terms


def test_everyday_words_are_recognized_by_term() -> None:
    everyday = {term for word in EVERYDAY_WORDS for term in terms(word)}
    assert len(everyday) > 200
    assert all(map(is_everyday, everyday))


@pytest.mark.parametrize("word", ["deployment", "dayjs", "invoice", "e"])
def test_other_words_are_not_everyday(word: str) -> None:
    assert not any(map(is_everyday, terms(word)))
