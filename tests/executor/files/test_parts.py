"""Dividing a long text, and choosing the relevant parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_executor.files.parts import divided, evenly, scores, tokens, wants_all

LINES = [f"Line {number} says that item {number} costs {number * 7} euros.\n" for number in range(400)]


def test_text_that_fits_is_one_part() -> None:
    assert divided("short", 100) == ["short"]
    assert divided("", 100) == [""]


@given(st.text(max_size=3000), st.integers(20, 200))
def test_parts_fit_and_lose_only_blank_lines(text: str, most: int) -> None:
    parts = divided(text, most)
    assert all(tokens(part) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_lines_stay_whole_and_in_order() -> None:
    parts = divided("".join(LINES), 300)
    assert len(parts) > 20
    assert [line for part in parts for line in part.split("\n")] == [line.rstrip("\n") for line in LINES]


@pytest.mark.parametrize("text", ["word " * 5000, "一" * 5000, "x" * 20_000, "1234567890" * 500, "A sentence. " * 2000])
def test_overlong_line_is_split(text: str) -> None:
    parts = divided(text, 500)
    assert all(0 < tokens(part) <= 500 for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_parts_of_a_table_repeat_its_header() -> None:
    table = "name,price\n" + "".join(f"item {number},{number}\n" for number in range(500))
    parts = divided(table, 300, header=True)
    assert len(parts) > 5
    assert all(part.startswith("name,price\n") for part in parts)
    assert all(tokens(part) <= 300 for part in parts)


def test_parts_with_rare_query_words_score_highest() -> None:
    parts = [f"Chapter {number}. The usual words about the project." for number in range(40)]
    parts[31] += " The warranty lasts 7 years."
    parts[12] += " Warranties are void if opened."
    parts[5] += " The frame is blue."
    found = scores(parts, "How long is the warranty?", "How long is the warranty, and what colour is the frame?")
    assert [at for at, score in enumerate(found) if score > 0] == [5, 12, 31]
    assert found[5] < found[12] == found[31]
    assert scores(parts, "The project") == [0.0] * 40, "a word that stands everywhere singles out nothing"


def test_parts_are_spread_from_beginning_to_end() -> None:
    assert evenly(41, 5) == [0, 10, 20, 30, 40]
    assert evenly(3, 5) == [0, 1, 2]
    assert evenly(9, 1) == [0]
    assert evenly(0, 3) == evenly(3, 0) == []


@pytest.mark.parametrize(
    "query", ["Summarise it", "Sum it up", "Translate the report", "Fasse den Text zusammen", "总结全文"]
)
def test_queries_about_a_whole_text_are_recognised(query: str) -> None:
    assert wants_all(query)
    assert not wants_all("How long is the warranty?")


def test_token_estimates_are_not_too_low() -> None:
    assert tokens("hello world, this is English prose of a usual kind") >= 10
    assert tokens("1234567890") == 10
    assert tokens("我喜欢你") >= 3
