"""Content words, and the words of a goal that instructions lack."""

from __future__ import annotations

import pytest

from goalwright_planner.small_models.coverage import content_words, missing


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Write a haiku and a prime function", ["haiku", "prime", "function"]),
        ("Please do the following tasks:", []),
        ("Name three of John's dogs, in 3 words", ["3", "john", "dogs", "words"]),
        ("Schreibe ein Gedicht über Regen", ["gedicht", "über", "regen"]),
        ("写一首俳句，然后解释递归", ["写一", "一首", "首俳", "俳句", "解释", "释递", "递归"]),
        ("", []),
    ],
)
def test_content_words_carry_the_meaning_of_a_text(text: str, words: list[str]) -> None:
    assert content_words(text) == words


@pytest.mark.parametrize(
    ("goal", "instructions", "lost"),
    [
        ("Write a haiku and a prime function", ["Write a haiku"], ["prime", "function"]),
        ("Write a haiku and a prime function", ["Compose haikus", "a function for primes"], []),
        ("Summarise the report and recommend one", ["Give a summary of reports", "a recommendation"], []),
        ("Compare tea with coffee", ["A comparison of coffee and tea"], []),
        ("Name three risks", ["List 3 risks"], []),
        ("Name three risks", ["List risks"], ["3"]),
        ("Test it in 2024", ["Read testimony of 2025"], ["test", "2024"]),
        ("1. a poem\n2. a song", ["a poem", "a song"], []),
        ("写一首俳句，列出三个质数", ["写一首俳句"], ["列出", "出三", "三个", "个质", "质数"]),
        ("Erkläre Rekursion", ["Explain recursion"], ["rekursion"]),
    ],
)
def test_word_is_missing_if_no_instruction_has_a_form_of_it(
    goal: str, instructions: list[str], lost: list[str]
) -> None:
    assert missing(goal, instructions) == lost
