"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from skills.text.plural import counted, plural


@pytest.mark.parametrize(("number", "said"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1234, "1,234 tasks")])
def test_one_is_one_and_all_else_is_many(number: int, said: str) -> None:
    assert counted(number, "task") == said


def test_a_plural_that_no_s_makes_is_given() -> None:
    assert counted(1, "retry", "retries") == "1 retry"
    assert counted(3, "retry", "retries") == "3 retries"
    assert plural(2, "is", "are") == "are"
